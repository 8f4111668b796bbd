import type { Command } from "commander";
import type { CommandHost } from "../command-host.ts";

export function registerOpenCommand(program: Command, { runs }: CommandHost): void {
  program
    .command("open")
    .description("print a fresh link to the page of a running server")
    .option("--workspace <dir>", "of the server that works there (default: here, else the newest)")
    .option("--port <number>", "of the server on this port")
    .option("--browser", "open it in a browser as well")
    .option("--close-all", "instead: end the access of every open page, and forget all remembered browsers")
    .option("--remembered", "instead: list the browsers that come in without a link")
    .option("--forget <id>", "instead: forget one of them, and shut out its pages")
    .option("--server <url>", "of this server, with a token of yours")
    .option("--auth-token-file <file>", "the token for --server")
    .action(runs(async () => (await import("./open-command.ts")).openCommand));
}
