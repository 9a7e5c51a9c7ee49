#!/usr/bin/env node
// Starts the program. CommonJS, in a syntax that every Node since 16 can read, so that an old one says what is needed.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const MIN_MAJOR = 24;
const root = path.join(__dirname, "..");
const entry = path.join(root, "dist", "main.js");
const { node } = process.versions;

if (Number.parseInt(node, 10) >= MIN_MAJOR) start();
else {
  const found = `this is Node ${node} (${process.execPath})`;
  console.error(`harness needs Node ${MIN_MAJOR} or newer; ${found}. Install a newer one: https://nodejs.org`);
  process.exitCode = 2;
}

function start() {
  const file = isFresh() ? entry : path.join(root, "src", "main.ts");
  if (file === entry) keepCompiled();
  import(require("node:url").pathToFileURL(file).href).then(
    (program) => program.main(),
    (error) => {
      console.error(error);
      process.exitCode = 1;
    },
  );
}

/** In a folder of the user alone. Node writes into it when the program has ended, and asks the umask then. */
function keepCompiled() {
  try {
    fs.mkdirSync(cacheDir(), { recursive: true, mode: 0o700 });
  } catch {
    return; // a cache that cannot be kept costs time and nothing else
  }
  const before = process.umask(0o077);
  require("node:module").enableCompileCache(cacheDir());
  process.umask(before);
  process.on("exit", () => process.umask(0o077));
}

/** In a clone the sources may be newer than the bundle; then they are run. An installed package has no sources. */
function isFresh() {
  const built = modified(entry);
  if (built === 0) return false;
  const source = path.join(root, "src");
  return modified(source) === 0 || newest(source) <= built;
}

function newest(folder) {
  let latest = modified(folder);
  for (const item of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, item.name);
    latest = Math.max(latest, item.isDirectory() ? newest(file) : modified(file));
  }
  return latest;
}

function modified(file) {
  const info = fs.statSync(file, { throwIfNoEntry: false });
  return info === undefined ? 0 : info.mtimeMs;
}

function cacheDir() {
  const named = process.env.XDG_CACHE_HOME;
  // A relative one would lie in whatever folder the program is started in.
  const base = named && path.isAbsolute(named) ? named : path.join(require("node:os").homedir(), ".cache");
  return path.join(base, "harness", "compile-cache");
}
