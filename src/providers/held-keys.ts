/**
 * Keys that the program around the engine has in its own memory and hands over in code: used in this process, for the hosts
 * they are bound to. Not for the program `harness`, whose keys only the credential helper has.
 */

import { createKnownSecrets, fingerprintSecret, isBoundTo } from "#base";
import type { CredentialPort } from "#engine";

export function createHeldKeys(env: Readonly<Record<string, string | undefined>>): CredentialPort {
  const keyIn = (variable: string): string | undefined => env[variable]?.trim() || undefined;
  const schemes = new Map<string, { readonly variable: string; readonly auth: "x-api-key" | "bearer" }>();
  const remotes = new Map<string, Readonly<Record<string, string>>>();
  const secrets = createKnownSecrets();
  return {
    reach({ name, url, headers }) {
      const missing = Object.values(headers).find(({ variable }) => keyIn(variable) === undefined);
      if (missing !== undefined) return { missing: missing.variable };
      const id = `mcp ${name} ${url}`;
      const sent = Object.entries(headers).map(([header, { variable, prefix }]) => {
        const value = keyIn(variable) ?? "";
        secrets.add(fingerprintSecret(Buffer.from(value)));
        return [header, `${prefix}${value}`];
      });
      remotes.set(id, Object.fromEntries(sent));
      return { id, source: `the MCP server ${name}`, hosts: [new URL(url).origin] };
    },
    holds: ({ variables }) => variables.some((name) => keyIn(name) !== undefined),
    find({ variables, name, auth, hosts }) {
      const variable = name === undefined ? variables.find((one) => keyIn(one) !== undefined) : undefined;
      if (variable === undefined) return undefined;
      const id = [variable, auth, ...hosts].join(" ");
      if (!schemes.has(id)) secrets.add(fingerprintSecret(Buffer.from(keyIn(variable) ?? "")));
      schemes.set(id, { variable, auth });
      return { id, source: variable, hosts };
    },
    howToBring: () => "pass it as apiKey",
    async route({ id, source, hosts }, url) {
      const remote = isBoundTo(hosts, url) ? remotes.get(id) : undefined;
      if (remote !== undefined) return { type: "held", headers: remote, secret: new Uint8Array(0) };
      const { variable = "", auth } = schemes.get(id) ?? {};
      const key = keyIn(variable);
      if (key === undefined || !isBoundTo(hosts, url)) {
        const bound = hosts.join(", ") || "no host";
        const remedy = "Name the model and its baseUrl yourself to send it there.";
        const message = `${source} is not sent to ${url.origin}: it is bound to ${bound}. ${remedy}`;
        return { type: "refused", reason: "CredentialHostRefused", message };
      }
      const headers: Record<string, string> =
        auth === "bearer" ? { authorization: `Bearer ${key}` } : { "x-api-key": key };
      return { type: "held", headers, secret: Buffer.from(key) };
    },
    onSecret: secrets.listen,
    told: async () => undefined,
    status: () => ({ state: "in this process", crashes: 0 }),
    storeStatus: () => ({ state: "none" }),
    close: () => undefined,
  };
}
