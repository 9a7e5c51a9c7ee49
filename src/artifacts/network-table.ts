/** `[network]` of `config.toml`: which hosts commands and `web.fetch` may connect to. */
import { defined, isDomainEntry } from "#base";
import { choice, defineTable, type FieldType, field, integer, list, nested, textThat } from "./schema.ts";
import type { NetworkSettings } from "./settings.ts";

const MAX_DOMAINS = 10_000;
const MAX_PORTS = 16;
const MAX_PORT = 65_535;

const networkTable = defineTable("Network", "Which hosts commands and `web.fetch` may connect to.").of({
  allowed_domains: field(
    list(textThat("host name, address, `*.name` or `*`, without scheme and port", isDomainEntry), {
      max: MAX_DOMAINS,
    }),
  ).means(
    "The allowed hosts: see [the list of domains](#the-list-of-domains). Without this field, any public host is allowed. An empty list or an empty table `[network]` allows no host.",
  ),
  mode: field(choice("proxy", "direct"), '`"proxy"`').means(
    "`proxy`: allowed commands connect through the egress proxy, which records each connection. `direct`: they use the machine's network directly, unless `allowed_domains` is set.",
  ),
  loopback_ports: field(list(integer(1, MAX_PORT), { max: MAX_PORTS }), "`[]`").means(
    "Ports on the machine's loopback interface that allowed commands may connect to, for example `[5432]` for a database. At most 16.",
  ),
});

export const networkType: FieldType<NetworkSettings> = nested(networkTable, ({ values }, _reader, tree) => {
  // An empty table means the same as an empty list: whoever writes it wants a limit.
  const listed = tree.entries.length === 0 ? [] : values.allowed_domains;
  return defined({ allowedDomains: listed, mode: values.mode, loopbackPorts: values.loopback_ports });
});
