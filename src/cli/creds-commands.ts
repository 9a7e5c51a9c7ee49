/** The commands below `harness creds`. */
import type { Command } from "commander";
import type { CommandActions } from "./command-actions.ts";
import { collect } from "./flags.ts";

export function addCredsCommands(creds: Command, { asIs, exit, ports }: CommandActions): void {
  creds.description("manage provider keys: encrypted, each sent only to the hosts it is bound to");

  creds
    .command("add")
    .description("store a key; asks for it on a terminal, otherwise reads standard input")
    .argument("<provider>", "whose key it is: anthropic, openai, …")
    .argument("[name]", "name of the key, if a provider has several (default: default)")
    .argument("[secret]", "the key itself; visible to other users of this machine, so better type or pipe it")
    .option(
      "--host <host>",
      "host that the key may be sent to, over https unless you write http://; repeatable (default: the provider's)",
      collect,
    )
    .option("--keychain", "store the secret in the system's keychain if there is one")
    .option("--json", "print JSON")
    .action(async (provider: string, name: string | undefined, secret: string | undefined, flags) => {
      const { credsAddCommand } = await import("./creds.ts");
      exit(await credsAddCommand(ports, { provider, name, argument: secret }, flags));
    });

  creds
    .command("list")
    .description("list the stored keys, without the secrets")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./creds.ts")).credsListCommand));

  creds
    .command("delete")
    .description("delete a key")
    .argument("<provider>")
    .argument("[name]", "default: default")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./creds.ts")).credsDeleteCommand));

  creds
    .command("test")
    .description(
      "test the credential helper, the process that holds the keys, and with a provider also whether it accepts the key",
    )
    .argument("[provider]")
    .argument("[name]", "which stored key (default: the one that Harness would use)")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./creds-test.ts")).credsTestCommand));
}
