#!/usr/bin/env node
import { isUtf8 } from "node:buffer";
/**
 * Verifies an exported session log on its own: plain Node, nothing of the program that wrote it. The format is described in
 * docs/reference/evidence.md. Exit code 0: intact. 1: not intact, every finding is printed. 2: usage.
 */
import { createPublicKey, hash, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const EXPIRED = "«ttl-expired»";
const BLOCK = [{ type: "text", text: EXPIRED }];
const ARGS = { expired: EXPIRED };
/** Of each kind of event that has content: the fields that stay when it expires, and what stands for the others. */
const EXPIRING = {
  TurnStarted: ["turn model queued", { content: BLOCK }],
  InputQueued: ["by", { content: BLOCK }],
  TurnSteered: ["turn step by", { content: BLOCK }],
  TextDelta: ["turn step block", { text: EXPIRED }],
  ThinkingDelta: ["turn step block provider", { text: EXPIRED }],
  ToolCallStarted: ["turn step block call_id name label class", { args: ARGS }],
  ToolCallProgress: ["turn call_id", { text: EXPIRED }],
  ToolResult: ["turn step call_id name is_error outcome reason duration_ms memoized", { content: BLOCK }],
  OrphanedCall: ["turn call_id name started_at", { args: ARGS }],
  OrphanResolved: ["turn call_id resolution by", { note: EXPIRED }],
  CompactionTriggered: ["turn boundary", { summary: EXPIRED }],
  PermissionRequested: ["turn call_id name label reason", { args: ARGS, summary: EXPIRED }],
  QuestionAsked: ["turn call_id", { question: EXPIRED }],
  CustomEvent: ["namespace kind", { payload: EXPIRED }],
};
const HEX = (digits) => new RegExp(`^[0-9a-f]{${digits}}$`);
const SESSION = /^sess_[0-9A-HJKMNP-TV-Z]{26}$/;
const KEY_FIELDS = { key_id: HEX(32), public_key: HEX(64), signature: HEX(128) };
const CHECKPOINT_FIELDS = { session: SESSION, ts: /^\S*$/, hash: HEX(64), ...KEY_FIELDS };
/** What the last event of a link carries: with content, and without. */
const LINKS = [{ hash: HEX(64), salt: HEX(32), content: HEX(64) }, { hash: HEX(64) }];
const ENVELOPE = ["id", "kind", "session", "originator", "ts", "payload", "x_evidence"];

const isObject = (value) => typeof value === "object" && value !== null;
const isText = (value) => typeof value === "string";
const matches = (object, fields) =>
  Object.entries(fields).every(([name, form]) => isText(object[name]) && form.test(object[name]));
const sha256 = (data) => hash("sha256", data);
const hasOnly = (object, names) => Object.keys(object).every((name) => names.includes(name));

function isCheckpoint(value) {
  if (!isObject(value) || !hasOnly(value, ["event", ...Object.keys(CHECKPOINT_FIELDS)])) return false;
  return matches(value, CHECKPOINT_FIELDS) && Number.isSafeInteger(value.event) && value.event > 0;
}

function isHead(value) {
  if (!isObject(value) || !hasOnly(value, ["event", "hash"]) || !matches(value, { hash: HEX(64) })) return false;
  return Number.isSafeInteger(value.event) && value.event >= 0;
}

function isEnvelope(value) {
  if (!hasOnly(value, ENVELOPE) || !("payload" in value) || !matches(value, { session: SESSION })) return false;
  if (!Number.isSafeInteger(value.id) || value.id < 1 || !isText(value.kind) || !isText(value.ts)) return false;
  if ("originator" in value && !isText(value.originator)) return false;
  const link = value.x_evidence;
  const isLink = (fields) => isObject(link) && hasOnly(link, Object.keys(fields)) && matches(link, fields);
  return !("x_evidence" in value) || LINKS.some(isLink);
}

/** Whether nothing is left of the content: then the hash of what it was stays and cannot be checked. */
function isExpired(kind, payload) {
  if (!Object.hasOwn(EXPIRING, kind) || !isObject(payload)) return false;
  const [kept, rest] = EXPIRING[kind];
  const fields = kept.split(" ").filter((name) => Object.hasOwn(payload, name));
  const left = { ...Object.fromEntries(fields.map((name) => [name, payload[name]])), ...rest };
  return JSON.stringify(left) === JSON.stringify(payload);
}

function hashOfLink(session, events, before, content = "") {
  const lines = events.map(({ kind, ts, originator = "", payload }) => {
    return `${kind}\t${ts}\t${originator}\t${Object.hasOwn(EXPIRING, kind) ? "" : JSON.stringify(payload)}\n`;
  });
  const ids = `${events[0].id} ${events.at(-1).id}`;
  return sha256(`harness-link-2\n${before}\n${content}\n${session} ${ids}\n${lines.join("")}`);
}

function isSigned({ session, event, hash: chainHash, ts, key_id, public_key, signature }) {
  const raw = Buffer.from(public_key, "hex");
  if (hash("sha256", raw).slice(0, 32) !== key_id) return false;
  const text = ["harness-checkpoint-1", session, event, chainHash, ts, key_id].join("\n");
  try {
    const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), raw]);
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return verify(null, Buffer.from(text), key, Buffer.from(signature, "hex"));
  } catch {
    return false;
  }
}

function createVerifier(trusted, anchors) {
  const [findings, unknown, ahead, heads] = [[], new Set(), [], []];
  let [session, chain, lastId, linkedTo, lastCheckpoint, lineNumber, expired] = [undefined, undefined, 0, 0, 0, 0, 0];
  let [open, inOrder, openTurns] = [[], true, []];
  const found = (event, what, detail) => findings.push({ event, what, detail });
  const start = () => hash("sha256", `harness-log-1\n${session}`);
  const ours = () => anchors?.filter((anchor) => anchor.session === session) ?? [];

  function signature(checkpoint) {
    if (!isSigned(checkpoint)) return found(checkpoint.event, "forged", "its signature is not one of its key");
    if (trusted.includes(checkpoint.public_key) || unknown.has(checkpoint.public_key)) return;
    unknown.add(checkpoint.public_key);
    found(checkpoint.event, "unknown-key", `signed by ${checkpoint.public_key}; pass it with --key if you know it`);
  }

  function event(envelope) {
    const { id } = envelope;
    session ??= envelope.session;
    if (envelope.session !== session) found(id, "foreign", `it belongs to ${envelope.session}`);
    if (id > lastId + 1) found(lastId + 1, "missing", `events ${lastId + 1} to ${id - 1} are missing`);
    else if (id <= lastId) found(id, "out-of-order", `it comes after event ${lastId}`);
    inOrder &&= id === lastId + 1;
    lastId = id;
    if (envelope.kind === "TurnEnded") openTurns.push(id);
    open.push(envelope);
    if (envelope.x_evidence !== undefined) link(envelope.x_evidence);
  }

  /** Ends with the last event of `open`. */
  function link({ salt, content, hash: stored }) {
    const [first, last, before] = [open[0], open.at(-1), chain ?? start()];
    const expiring = open.filter(({ kind }) => Object.hasOwn(EXPIRING, kind));
    const left = expiring.find(({ kind, payload }) => !isExpired(kind, payload));
    const texts = expiring.map(({ payload }) => `${JSON.stringify(payload)}\n`).join("");
    const made = texts === "" ? undefined : sha256(`${salt}\n${texts}`);
    const linked = hashOfLink(session, open, before, content) === stored;
    if (made !== content && left === undefined && expiring.length > 0) expired += expiring.length;
    else if (made !== content && inOrder) found((left ?? first).id, "altered", `up to event ${last.id}: other content`);
    if (!linked && inOrder) found(first.id, "broken-link", `up to event ${last.id}: another hash`);
    chain = stored;
    for (const { event: at, hash: known } of ours().filter(({ event: at }) => open.some(({ id }) => id === at))) {
      if (at !== last.id || known !== chain) found(at, "replaced", "another hash is anchored");
    }
    [linkedTo, open, inOrder] = [last.id, [], true];
  }

  function checkpoint(value) {
    signature(value);
    if (session !== undefined && value.session !== session) found(value.event, "foreign", `of ${value.session}`);
    else if (value.event > lastId) ahead.push(value);
    else {
      const isHere = value.event === lastId && value.event === linkedTo && value.event > lastCheckpoint;
      if (!isHere) found(value.event, "out-of-order", "checkpoint");
      else if (value.hash !== chain) found(value.event, "replaced", "another hash was signed");
      lastCheckpoint = Math.max(lastCheckpoint, value.event);
      openTurns = openTurns.filter((id) => id > lastCheckpoint);
    }
  }

  function line(text) {
    lineNumber += 1;
    const unreadable = (why) => found(lastId, "unreadable", `line ${lineNumber}: ${why}`);
    let value;
    try {
      value = JSON.parse(text);
      if (JSON.stringify(value) !== text) return unreadable("it is not written in the canonical form");
    } catch {
      return unreadable("it is not JSON");
    }
    if (!isObject(value)) return unreadable("it is not an object");
    const [only] = Object.keys(value).length === 1 ? Object.keys(value) : [];
    if (lineNumber === 1) {
      if (only !== "x_export") return unreadable("an export begins with x_export");
      const named = value.x_export?.session?.id;
      if (isText(named) && SESSION.test(named)) session = named;
    } else if (only === "x_checkpoint" && isCheckpoint(value.x_checkpoint)) checkpoint(value.x_checkpoint);
    else if (only === "x_head" && isHead(value.x_head)) heads.push(value.x_head);
    else if (isEnvelope(value)) event(value);
    else unreadable("it is neither an event with its evidence nor a checkpoint nor a head");
  }

  function end() {
    for (const { event: id } of ahead) {
      if (id > lastId) found(id, "truncated", `there is a checkpoint at ${id}, the last event is ${lastId}`);
      else found(id, "out-of-order", "the checkpoint comes before its event");
    }
    if (open.length > 0) found(open[0].id, "truncated", "no link covers what begins here");
    const [head, ...more] = heads;
    if (head?.event > lastId) found(head.event, "truncated", `the log ends at ${head.event}, not at ${lastId}`);
    else if (head !== undefined && (head.event < lastId || head.hash !== (chain ?? (session && start())))) {
      found(lastId, "broken-link", "the head of the log does not belong to its last event");
    }
    if (more.length > 0) found(lastId, "out-of-order", "there is more than one head");
    if (head === undefined && (lastId === 0 || lastCheckpoint !== lastId)) {
      found(lastId, "truncated", "neither a head nor a checkpoint covers the last event");
    }
    for (const id of openTurns) found(id, "unsigned", "a turn ends here and no checkpoint covers it");
    for (const anchor of ours()) {
      signature(anchor);
      if (anchor.event > lastId) found(anchor.event, "truncated", `there is an anchor, the last event is ${lastId}`);
    }
    if (anchors !== undefined && ours().length === 0) found(0, "no-anchor", `no anchor is for ${session}`);
    const counts = { last_event: lastId, last_checkpoint: lastCheckpoint, expired };
    return { intact: findings.length === 0, session, ...counts, findings };
  }
  return { line, end };
}

function readAnchor(text, at) {
  const [word, session, id, chainHash, ts, key_id, public_key, signature, ...rest] = text.split(" ");
  const anchor = { session, event: Number(id), hash: chainHash, ts, key_id, public_key, signature };
  const isAnchor = word === "harness-anchor-1" && rest.length === 0 && isCheckpoint(anchor);
  if (!isAnchor || String(anchor.event) !== id) throw new Error(`anchor ${at + 1} is no anchor`);
  return anchor;
}

const say = (text) => process.stdout.write(`${text}\n`);
const USAGE = "usage: verify-log.mjs EXPORT --key PUBLIC_KEY [--key …] [--anchor FILE] [--json]";
function usage(message) {
  process.stderr.write(`${message}\n${USAGE}\n`);
  process.exit(2);
}

try {
  const many = { type: "string", multiple: true, default: [] };
  const options = { key: many, anchor: many, json: { type: "boolean" } };
  const { values, positionals: files } = parseArgs({ options, allowPositionals: true });
  const { key: keys, anchor: anchorFiles, json } = values;
  if (files.length !== 1) usage("name one export");
  if (!keys.every((key) => HEX(64).test(key))) usage("a key is 64 lower-case hex digits");
  const anchorLines = anchorFiles.flatMap((file) => readFileSync(file, "utf8").split("\n"));
  const anchors = anchorLines.filter((text) => text.trim() !== "" && !text.startsWith("#")).map(readAnchor);
  const verifier = createVerifier(keys, anchorFiles.length === 0 ? undefined : anchors);
  const bytes = readFileSync(files[0]);
  const text = isUtf8(bytes) ? bytes.toString("utf8").replace(/\n$/, "") : "not UTF-8";
  if (text !== "") text.split("\n").forEach(verifier.line);
  const verdict = verifier.end();
  const summary = `${verdict.intact ? "intact" : "NOT INTACT"}: ${verdict.session}, ${verdict.last_event} events`;
  if (json) say(JSON.stringify(verdict));
  else for (const { event, what, detail } of verdict.findings) say(`event ${event}: ${what}: ${detail}`);
  if (!json) say(`${summary}, ${verdict.expired} expired, signed up to event ${verdict.last_checkpoint}`);
  process.exitCode = verdict.intact ? 0 : 1;
} catch (error) {
  usage(error.message);
}
