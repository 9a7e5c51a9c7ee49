/**
 * The inputs of the fourth labelled set: two for each memory, as developers type tasks, questions and complaints to an agent, and 100 to which
 * no memory of any set is an answer. Written after the memories, before any of them was measured, and not changed since.
 */

// biome-ignore format: the inputs of one memory on each line
const inputs: Readonly<Record<string, readonly [string, string]>> = {
  "ask-before-commit": ["fix the failing parser test and commit it", "ok that looks good, go ahead and wrap this up in git"],
  "terse-replies": ["explain what this regex does", "you don't need to tell me everything again, how long should your answers be?"],
  "senior-backend-new-react": ["why does this component render twice?", "walk me through how state works in the booking form"],
  "integration-tests-real-db": ["write tests for the visits repository", "can we fake the db in these tests to make them faster?"],
  "merge-freeze-mobile": ["is it ok to merge this today? it's friday", "when does the mobile team cut their branch"],
  "auth-rewrite-reason": ["should the new auth middleware keep the old token format?", "what's the background of this login rewrite, do we really need it"],
  "bugs-linear-intake": ["the intake form loses attachments, is there already a ticket?", "open an issue for the broken intake queue"],
  "grafana-latency-board": ["I changed the request handler, how do I see whether it got slower?", "which dashboard shows p99 of the api"],
  "single-pr-refactor": ["refactor the scheduling module, should I split it up into several PRs?", "this restructuring is huge, how do we hand it in"],
  "appointments-tz": ["patients in Lisbon see their visit an hour too late since sunday", "add a starts_at column to appointments"],
  "slot-lock-redis": ["two people booked the same slot yesterday", "how long is a slot reserved while someone is booking"],
  "fhir-resources": ["add the allergy list to what we send to the hospitals", "which FHIR version do we speak"],
  "phi-no-logs": ["add logging to the referral handler so we can see what comes in", "can I print the patient's name here for debugging?"],
  "phi-in-tests": ["I need some realistic patients for a unit test", "could you pull a few records from prod for the fixtures"],
  "pnpm-workspace": ["add lodash to the web package", "npm i fails in packages/booking"],
  "turbo-cache-stale": ["my change in visit.proto has no effect", "the build still uses the old field, what's going on"],
  "node-24-only": ["SyntaxError: Unexpected token 'using' when I start the api", "which version of node should I install"],
  "rust-matcher-crate": ["Error: Cannot find module './matcher.linux-x64.node'", "after git pull the matching engine crashes on start"],
  "python-uv-ml": ["install pandas in ml", "ModuleNotFoundError: lightgbm"],
  "no-show-model": ["add the weather on the day of the visit as a feature", "how often is the prediction of missed visits retrained"],
  "deploy-argocd": ["get this version of the api to production", "how do deployments work here"],
  "rollback-env": ["the new release is broken, take it back!", "how do I undo a deploy"],
  "staging-reset": ["the clinic I created on staging yesterday has disappeared", "how often is staging reset"],
  "preview-envs": ["Ayo wants to look at my branch, how can he see it in a browser", "give me an environment for this pull request"],
  "feature-flags-openfeature": ["roll out the new calendar to three clinics first", "CI says my flag has no owner"],
  "migrations-expand-contract": ["rename visits.doctor_id to clinician_id", "drop the legacy phone column from patients"],
  "big-tables-concurrently": ["queries on audit_events by actor are slow, add an index", "the migration blocked all bookings for minutes"],
  "readonly-replica": ["how many visits did we have last month?", "run this report against the live database"],
  "errors-problem-json": ["answer with 409 if the slot is already taken", "which format do api errors have"],
  "openapi-first": ["add an endpoint to cancel a visit", "where do the types of the api client come from"],
  "grpc-internal": ["the billing service needs the list of clinicians from the directory service", "add a field to the matcher proto"],
  "rate-limit-partners": ["check the coverage of all 4000 patients tonight in parallel", "we keep getting 429 from the insurer"],
  "insurance-sandbox": ["the eligibility check says not covered for my test patient", "which member id works in the insurance sandbox"],
  "stripe-webhook-order": ["a visit is shown as unpaid although the card was charged", "handle charge.refunded in the webhook"],
  "copay-cents": ["add a cancellation fee to the invoice", "sum of the copays differs by 0.01"],
  "video-livekit": ["a doctor at a hospital only sees a black picture in the call", "upgrade the livekit client"],
  "video-recording-forbidden": ["could we keep the video of failed calls to see what went wrong?", "add a button that records the visit"],
  "sms-provider": ["patients in Denmark don't get text messages", "validate the phone number on the profile page"],
  "reminder-quiet-hours": ["send the reminder 12 hours before the visit", "somebody complained about a message at 3 am"],
  "email-templates-mjml": ["change the logo in the confirmation mail", "the mail looks terrible in outlook"],
  "i18n-icu": ["the button should say 'Book now' in german as well", "add swedish"],
  "a11y-wcag-aa": ["build a date picker", "can I remove the focus outline, it's ugly"],
  "design-tokens": ["make the header a slightly darker blue", "stylelint complains about #1a4fff"],
  "storybook-required": ["create a reusable avatar component", "do I need a story for this"],
  "playwright-e2e": ["test the whole booking flow in a real browser", "how do I run the e2e tests with a ui"],
  "flaky-video-e2e": ["video.spec.ts failed again but I didn't touch it", "CI is red for no reason, only the camera test"],
  "ci-github-self-hosted": ["my training job has been queued since saturday", "why is there no runner for gpu jobs"],
  "ci-required-checks": ["the merge button is grey, what is missing", "does e2e have to pass before merging?"],
  "license-scan": ["can we use this AGPL library for charts?", "the licences check fails for a new package"],
  "secrets-1password": ["where do I get the stripe key for local development", "how do I set up my .env"],
  "prod-access-teleport": ["I need a shell on one of the api pods", "ssh into production"],
  "vpn-tailscale": ["could not resolve host grafana.internal", "I'm working from a café and can't open any internal page"],
  "oncall-rotation": ["who is on call this week", "everything is down, whom do I call?"],
  "incident-postmortem": ["write the postmortem of yesterday's outage", "put together what happened on tuesday when booking was down, who did what"],
  "owner-matcher": ["who can explain the matching algorithm to me", "I have a legal question about a contract, whom do I ask"],
  "customer-nordklinik": ["enable self-booking for all clinics", "login at Nordklinik does not work with a password"],
  "tenant-isolation-rls": ["write a query that lists the visits of one clinic", "could one clinic see another one's patients by mistake?"],
  "empty-result-rls": ["my script finds no patients, but they are there", "select count(*) from visits gives 0 in psql"],
  "audit-append-only": ["there's a wrong entry in the audit log, delete it", "UPDATE on audit_events raises an exception"],
  "retention-ten-years": ["a patient demands that we erase everything about her", "how long do we store medical records"],
  "soft-delete": ["delete clinics that are no longer customers", "bring back a clinician that was removed by accident"],
  "ids-uuidv7": ["create a table for waiting lists with a primary key", "what does appt_ mean in front of the id"],
  "dates-temporal": ["compute the age of the patient from the birthday", "can I use date-fns here"],
  "zod-at-edges": ["the handler crashes when the body has no email", "validate the query parameters of the search route"],
  "no-default-export": ["make a new module for formatting names", "create an index.ts that re-exports everything"],
  "no-comments-what": ["add some comments to this file", "write jsdoc for all functions in lib/limits"],
  "error-handling-result": ["throw an error when the slot is not free", "what should bookVisit do if the insurer refuses"],
  "naming-domain-words": ["add a class Doctor with the sessions of today", "how do we call the people who treat patients in the code"],
  "queue-nats": ["tell the billing service when a visit has ended", "set up a kafka consumer for no-shows"],
  "outbox-pattern": ["publish an event after the visit is saved", "the event was never sent although the row is in the database"],
  "cron-k8s": ["run the cleanup every night", "where are the scheduled jobs defined"],
  "search-typesense": ["Dr. Møller cannot be found with 'Moller'", "the list of clinicians in the search is outdated"],
  "maps-clinics": ["show patients the closest clinic", "use the google geocoder for addresses"],
  "uploads-s3-scan": ["the uploaded referral letter doesn't show up", "how are attachments checked for viruses"],
  "pdf-weasyprint": ["the prescription prints with the wrong font", "use puppeteer to make the pdf"],
  "perf-budget-booking": ["add a 300 kB chart library to the booking page", "the booking page takes ages on my phone"],
  "n-plus-one-dataloader": ["the clinician list fires 200 sql statements", "write a resolver for the patient's insurance"],
  "load-test-k6": ["simulate 5000 users booking at the same time", "can I run the load test against staging?"],
  "monday-peak": ["when can we take the database down for an upgrade", "why do we need more pods at the beginning of the week"],
  "sentry-ignore": ["what errors do users see in the browser right now", "there are thousands of ResizeObserver loop errors"],
  "otel-tracing": ["one request takes 8 seconds, find out where the time goes", "how do I find the trace of a log line"],
  "debug-logs-level": ["I want to see more of what the booking service does locally", "turn on debug output"],
  "local-setup-just": ["I just cloned the repo, what now", "start the whole system on my machine"],
  "port-conflict-5432": ["psql: connection to server on port 5432 failed: password authentication failed", "what's the connection string for my local database"],
  "macbook-arm": ["standard_init_linux.go: exec user process caused: exec format error", "build the docker image for production from my laptop"],
  "fish-and-tmux": ["give me a loop that pings all hosts", "set HALDEN_ENV for the next three commands"],
  "neovim-no-vscode": ["configure a debugger for the api", "add recommended extensions to the repo"],
  "working-hours-oslo": ["suggest a time for a call with the team in New York", "put a 15:30 review in my calendar"],
  "standup-format": ["write my daily for today", "summarise what I did yesterday for the team"],
  "pr-description-format": ["open a PR for this branch", "write a description of these changes for the reviewers"],
  "commit-scope": ["give me a title for this commit", "message for squashing these five commits"],
  "rebase-not-merge": ["my branch is 20 commits behind, bring it up to date", "merge main into my feature branch"],
  "no-new-lockfile-churn": ["update all packages while you're at it", "npm audit shows a moderate vulnerability in a transitive package"],
  "docs-diataxis": ["where should I write down how to set up SSO for a customer", "add a page to the docs about webhooks"],
  "adr-folder": ["we decided for NATS instead of RabbitMQ, note that somewhere", "why did we pick LiveKit over Twilio?"],
  "graphql-only-web": ["the phone app needs the list of visits, extend the graphql schema?", "how does the web page get its data"],
  "mobile-expo": ["run the app in the iOS simulator", "build a new version for testflight"],
  "mobile-min-version": ["remove the field duration from the visits response", "can we drop support for the old app now"],
  "contract-tests-pact": ["can-i-deploy fails for the mobile consumer", "how do we make sure that an api change doesn't break the app"],
  "demo-account": ["I need a login to show the product to a prospect", "sales asks for a demo clinic"],
};

/** The wanted memory and the input, in the order of the memories. */
export const fourthInputs: readonly (readonly [wanted: string, text: string])[] = Object.entries(inputs).flatMap(
  ([wanted, texts]) => texts.map((text) => [wanted, text] as const),
);

/** Ordinary work to which no memory of any set is an answer. What joins their turn joins for nothing. */
export const inputsWithoutMemory: readonly string[] = `
what is the difference between a mutex and a semaphore
write a function that reverses a linked list
convert this csv to a markdown table
what does O(n log n) mean
implement fizzbuzz in haskell
translate this stack trace into plain words
generate a random maze and draw it in ascii
how do I compare two floats in c++
explain monads to me
solve the sudoku in puzzle.txt
write a haiku about compilers
count the words in this text
what is the capital of Mongolia
find the longest palindrome in a string
convert 72 fahrenheit to celsius
make a regular expression that matches roman numerals
write a brainfuck interpreter
how does quicksort choose its pivot
draw a binary tree with graphviz
what's new in the latest release of Zig
simulate conway's game of life
parse this arithmetic expression and evaluate it
which sorting algorithm is stable
read the first ten lines of a file in perl
rotate a matrix by 90 degrees
compute the first 1000 primes
what does the keyword yield do
explain the difference between tcp and udp
implement a trie with insertion and lookup
write a lexer for a tiny lisp
how do I exit vim
generate lorem ipsum with three paragraphs
merge two sorted arrays
what is tail recursion
write a bash script that renames photos by their exif date
find duplicates in this list of strings
what is the halting problem
encode this string in base64
make an ascii progress bar
how many bits are in a nibble
decode this morse code
write a program that plays tic tac toe
explain big endian and little endian
calculate the levenshtein distance of two words
what does idempotent mean
how does a bloom filter work
create a svg with a red circle
convert this json to xml
what is a closure
write a knn classifier from scratch
explain how git stores objects
turn this recursive function into a loop
what is the difference between let and var
shuffle a deck of cards fairly
how do I read from stdin in rust
write a simple http server in go
what does this assembly do: xor eax, eax
make a countdown in javascript
check whether a number is a power of two
implement dijkstra on a grid
generate all permutations of abc
explain the visitor pattern
what's the maximum value of a 32 bit integer
compress this text with run length encoding
write a unit converter for miles and kilometres
how does garbage collection work in java
find the square root without math.sqrt
build a calculator with a gui
what is a race condition
convert a decimal number to hexadecimal by hand
how do I format a usb stick on linux
what are the solid principles
write a crossword generator
print a christmas tree of stars
what does chmod 755 do
implement a stack with two queues
who invented the fortran language
write a parser combinator in ocaml
how do I centre a div
compare rust and go for command line programs
tell me a joke about recursion
what is the difference between a process and a thread
write a markov chain text generator
interpolate between two colours
explain backpropagation step by step
how big is a terabyte
make a pomodoro timer
write a matrix multiplication in cuda
what's a good name for a cat
plot a sine wave in the terminal
explain the cap theorem
detect a cycle in a directed graph
what is unicode normalization
parse a date like 'next tuesday' by hand
write a makefile for a single c file
implement rot13
how do hash tables handle collisions
generate a qr code
explain the birthday paradox
make a text adventure with three rooms
`
  .trim()
  .split("\n");
