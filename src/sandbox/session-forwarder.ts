/**
 * What runs inside the network namespace of a session: listeners on its loopback that hand every connection to a Unix socket of the
 * egress proxy. It decides nothing. It ends with its standard input, so it cannot outlive the program that started it.
 */

const MAX_CONNECTIONS = 256;

/** `node -e SESSION_FORWARDER port socket [port socket …]`: prints `ready` and its process id when it listens everywhere. */
export const SESSION_FORWARDER = `
const net = process.getBuiltinModule("node:net");
const end = () => process.exit(0);
process.stdin.on("end", end).on("error", end).resume();
function listen(host, port, path) {
  const server = net.createServer({ allowHalfOpen: true }, (inside) => {
    const outside = net.connect({ path, allowHalfOpen: true });
    inside.pipe(outside).pipe(inside);
    inside.on("error", () => outside.destroy());
    outside.on("error", () => inside.destroy());
  });
  server.maxConnections = ${MAX_CONNECTIONS};
  return new Promise((resolve, reject) => server.on("error", reject).listen(port, host, resolve));
}
async function start(routes) {
  for (let at = 0; at < routes.length; at += 2) {
    const [port, path] = routes.slice(at, at + 2);
    await listen("127.0.0.1", Number(port), path);
    // A kernel without IPv6 has no such address.
    await listen("::1", Number(port), path).catch(() => undefined);
  }
  process.stdout.write("ready " + process.pid + "\\n");
}
start(process.argv.slice(1)).catch((error) => {
  process.stderr.write(error.message);
  process.exit(1);
});
`;
