import type { Command } from "commander";
import type { CommandHost } from "../command-host.ts";
import { collect, workspaceOption } from "../options/shared-options.ts";

export function registerDoctorCommand(program: Command, { runs }: CommandHost): void {
  const doctor = program
    .command("doctor")
    .description("look at this machine, this workspace and its server: what works, what does not, what to do next");
  workspaceOption(doctor)
    .option("--server <url>", "look at this server (default: those that run for the workspace)")
    .option("--auth-token-file <file>", "the token of that server; repeatable, in the order of --compare", collect)
    .option("--tls-cert <file>", "check this certificate as well: how long it is valid")
    .option("--log <address>", "look at the log that several servers share, e.g. nats://a:4222,b:4222,c:4222")
    .option("--compare <urls...>", "instead: whether these servers are the same program under the same rules")
    .option("--json", "print JSON")
    .addHelpText("after", doctorHelp)
    .action(runs(async () => (await import("./doctor-command.ts")).doctorCommand));
}

const doctorHelp = `
The tokens of --compare are in GENNAI_AUTH_TOKEN_1, GENNAI_AUTH_TOKEN_2, … or in the files of --auth-token-file, in the order
of the servers; GENNAI_AUTH_TOKEN, or one file, is for all.

Exit codes: 0 nothing to correct, or the servers are the same; 1 something to correct, or they differ; 2 the command line is wrong.
`;
