/** Words of the trade that stand for each other, so that an input finds a memory that says it with another word. One more group is one line. */
import { once } from "#base";
import { SUBJECTS } from "./subject-words.ts";
import { stem } from "./words.ts";

const GROUPS = `
auth authentication authorization login logon signin oauth sso credential password
backup restore snapshot recovery
branch fork
browser chrome firefox safari
bug defect issue regression fault
build compile bundle
cache caching memoize
ci pipeline jenkins workflow actions
client customer consumer
cloud aws gcp azure
code source implementation
comment annotation
config configuration setting preference option
container docker podman image
cron schedule nightly timer periodic recurring
css style stylesheet theme
database db postgres postgresql mysql sqlite sql
date day timestamp calendar
delete remove drop erase purge
dependency package library module
deploy deployment release rollout ship publish launch
directory folder
docs documentation readme guide manual
email mail smtp
encrypt encryption cipher tls ssl certificate
endpoint route api url
environment env staging production prod
error exception crash failure fail broken
feature capability
file document
flag toggle switch
flaky unstable intermittent unreliable
format formatter formatting prettier style indentation
frontend ui interface page screen
backend server service
incident outage downtime postmortem
install setup onboarding bootstrap
javascript js
job task worker
kubernetes k8s kubectl helm cluster
language locale translation i18n
limit quota cap maximum threshold
lint linter eslint biome
log logging logger
log trace tracing
merge rebase squash
message notification alert
metric monitoring dashboard grafana observability
migrate migration schema upgrade
money price cost billing invoice payment charge
network connection socket
old legacy deprecated
owner maintainer responsible
people person team colleague
permission access role privilege
phone mobile ios android
port listen
prefer preference favorite favourite
pr pull review merge
python py
queue kafka rabbitmq broker topic
repository repo git
retry backoff attempt
schedule meeting appointment
secret token key credential
security vulnerability cve
slow performance latency speed fast optimize
storage bucket s3 disk
style convention guideline
support helpdesk ticket
test spec testing vitest jest pytest
timeout deadline hang
time timezone hour utc
typescript ts
user account member
variable name naming
version tag semver
website site homepage
write author compose
add create new make insert
admin administrator root superuser
agent bot assistant
app application program
approval signoff permission consent
arabic hebrew rtl
archive history old past
article post page content
ask question contact
audio sound music
autumn winter spring summer season
bank account transfer iban
basket cart checkout order purchase buy
big large huge heavy size
bill invoice receipt
blue red green yellow colour color palette theme
boss manager management lead
broken down offline outage unavailable
button link label icon widget component
calendar meeting appointment slot diary
callback webhook hook
card credit payment pay charge
chart graph plot diagram
chat slack teams channel
clean tidy refactor cleanup
cluster node machine host
coffee lunch break
colleague employee staff coworker
country market region europe germany france netherlands norway
coupon voucher discount promotion
courier shipping delivery parcel
cookie session
copy dump clone duplicate
crawl seo google index
crypto hash signature hmac sign
currency euro dollar cent money price
customer client buyer visitor user shopper
danger risk unsafe
data record row entry
day night morning evening weekend
debug inspect print trace log
device phone tablet handheld scanner
domain origin host site
download upload fetch transfer
draft wip unfinished
editor ide vim vscode emacs
empty blank missing null
enterprise company corporate office firm
entity model class
event message emit publish
expensive cost price
experiment trial beta canary
explain describe summary
export import
family kids children
feedback review opinion wish request
field column attribute property
finance tax vat accounting
finder search lookup query
font text typography
form input field
game play
german english french spanish dutch language
git branch commit history
gone removed missing deleted
gpu cuda training ml model
handle process
hardware laptop computer machine mac
header heading title headline
health status alive
holiday vacation leave absence
home remote office
html markup
id identifier uuid key
image picture photo pixel
internal private
invite onboard join
iphone ios ipad apple mobile
law legal license gdpr compliance
layout rtl ltr alignment left right
live production prod
local laptop dev development
mail inbox newsletter message
mailer email mail
map location address postcode
memory ram heap leak
mistake wrong error accident
mock stub fake fixture sample
module class component
name call title
nickname pronoun name
paper pdf document print
partner vendor supplier provider
pair pairing mob
plan roadmap milestone
plugin extension addon
privacy gdpr personal data
product item article sku
project repo repository
proxy gateway firewall vpn
publish release ship live
quality qa tester
quick short brief concise terse verbose long
rewrite rebase history
reject refuse deny block forbid
replay rerun again
report summary weekly status
reply answer response
resize scale shrink crop
sandbox fake test trial
save store keep persist
screen display monitor
script snippet tool
server machine instance vm
shell terminal bash fish zsh console
shift oncall rota duty
shop store commerce
sick ill absent
snippet script inline
stock inventory warehouse
stylesheet css tailwind
support complaint angry
swagger openapi
switch flag toggle
table schema database
tag label
template layout
token secret password
tool utility
traffic load users visitors
train travel trip flight expense
undo revert rollback
validate verify check
video stream
wait timeout slow
wake page alert oncall
worker job process
`;

/** How much a word counts where the other one is meant. */
const [CLOSE_SHARE, SUBJECT_SHARE] = [0.6, 0.5];

type Related = ReadonlyMap<string, number>;

const table = once((): ReadonlyMap<string, Related> => {
  const related = new Map<string, Map<string, number>>();
  const add = (groups: readonly string[], share: number): void => {
    for (const group of groups) {
      const stems = group.trim().split(/\s+/).map(stem);
      for (const word of stems) {
        const known = related.get(word) ?? new Map<string, number>();
        for (const other of stems) if (other !== word && !known.has(other)) known.set(other, share);
        related.set(word, known);
      }
    }
  };
  add(GROUPS.trim().split("\n"), CLOSE_SHARE);
  add(SUBJECTS.trim().split(","), SUBJECT_SHARE);
  return related;
});

const NONE: Related = new Map();

/** By stem, with how much each counts. The first call of a process makes the table. */
export function relatedWords(): (word: string) => Related {
  const related = table();
  return (word) => related.get(word) ?? NONE;
}
