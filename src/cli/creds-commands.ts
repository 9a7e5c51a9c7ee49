/** The commands below `harness creds`. */
import type { Command } from "commander";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { collect } from "./flags.ts";

export function addCredsCommands(creds: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  creds.description("store the keys of providers, sealed and bound to where they may be sent");

  creds
    .command("add")
    .description("store a key; it is asked for, or read from standard input when that is not a terminal")
    .argument("<provider>", "whose key it is: anthropic, openai, …")
    .argument("[name]", "to tell several keys of a provider apart (default: default)")
    .argument("[secret]", "the key itself; others can see it there, so that it is better typed or piped")
    .option(
      "--host <host>",
      "where it may be sent, https unless it says http://; repeatable (default: the provider's)",
      collect,
    )
    .option("--keychain", "keep the secret in the keychain of the system, where there is one")
    .option("--json", "print JSON")
    .action(async (provider: string, name: string | undefined, secret: string | undefined, flags) => {
      const { credsAddCommand } = await import("./creds.ts");
      exit(await credsAddCommand(ports, { provider, name, argument: secret }, flags));
    });

  creds
    .command("list")
    .description("list what is stored, without the secrets")
    .option("--json", "print JSON")
    .action(async (flags) => {
      const { credsListCommand } = await import("./creds.ts");
      exit(await credsListCommand(ports, flags));
    });

  creds
    .command("delete")
    .description("delete a key")
    .argument("<provider>")
    .argument("[name]", "default: default")
    .option("--json", "print JSON")
    .action(async (provider: string, name: string | undefined, flags) => {
      const { credsDeleteCommand } = await import("./creds.ts");
      exit(await credsDeleteCommand(ports, provider, name, flags));
    });

  creds
    .command("test")
    .description("start the process that holds the keys and, with a provider, ask that one whether it takes the key")
    .argument("[provider]")
    .argument("[name]", "which stored key (default: the one that a model of this provider is called with)")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print JSON")
    .action(async (provider: string | undefined, name: string | undefined, flags) => {
      const { credsTestCommand } = await import("./creds-test.ts");
      exit(await credsTestCommand(ports, provider, name, flags));
    });
}
