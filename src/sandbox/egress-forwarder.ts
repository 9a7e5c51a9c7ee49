/**
 * What runs inside a sandbox with a domain list: a listener on loopback that hands every connection to the socket of the
 * egress proxy. It decides nothing; a command that kills or replaces it has no network at all.
 */

/** On the loopback of the sandbox's own network namespace, where nobody else listens. */
export const EGRESS_PORT = 3128;

/** `node -e FORWARDER port socket`: says `ready` when it listens. */
export const FORWARDER = `
const net = process.getBuiltinModule("node:net");
const [port, path] = process.argv.slice(1);
net.createServer({ allowHalfOpen: true }, (inside) => {
  const outside = net.connect({ path, allowHalfOpen: true });
  inside.pipe(outside).pipe(inside);
  inside.on("error", () => outside.destroy());
  outside.on("error", () => inside.destroy());
}).listen(Number(port), "127.0.0.1", () => process.stdout.write("ready\\n"));
`;
