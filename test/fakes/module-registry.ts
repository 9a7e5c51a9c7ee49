/** An npm registry on the loopback that offers what this repository has in `node_modules`: a real `npm install` without the network. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join, resolve } from "node:path";

const modules = resolve(import.meta.dirname, "../../node_modules");
const TARBALL = "/-/package.tgz";

export interface ModuleRegistry {
  readonly url: string;
  close(): Promise<void>;
}

export async function startModuleRegistry(): Promise<ModuleRegistry> {
  const server = createServer(({ url: path = "/" }, response) => {
    const name = decodeURIComponent(path.replace(TARBALL, "").slice(1));
    const folder = join(modules, name);
    // Packages for other platforms are not installed here, and optional to whoever asks.
    if (!existsSync(join(folder, "package.json"))) return void response.writeHead(404).end();
    if (path.endsWith(TARBALL)) {
      const tar = spawn("tar", ["-c", "-I", "gzip -1", "-C", dirname(folder), basename(folder)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      return void tar.stdout.pipe(response);
    }
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
    const tarball = `${registry.url}/${encodeURIComponent(name)}${TARBALL}`;
    const versions = { [manifest.version]: { ...manifest, dist: { tarball } } };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name, "dist-tags": { latest: manifest.version }, versions }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const registry = {
    // A server that listens on TCP has an address object.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return registry;
}
