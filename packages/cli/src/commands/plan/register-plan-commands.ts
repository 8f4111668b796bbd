import type { Command } from "commander";
import type { CommandHost } from "../command-host.ts";
import { collect, workspaceOption } from "../options/shared-options.ts";

/** Commands about plans: written by the model, approved by a person, run by the server byte for byte. */
export function registerPlanCommands(program: Command, { runs }: CommandHost): void {
  const group = program
    .command("plan")
    .description("write, preview, approve, execute and verify a plan")
    .addHelpText("after", planHelp);
  const add = (name: string, description: string): Command =>
    workspaceOption(group.command(name).description(description))
      .option("--session <id>", "the session (default: the one that has the plan)")
      .option(
        "--server <which>",
        "auto: a running server of this workspace, else one of its own; own; or a URL",
        "auto",
      )
      .option("--auth-token-file <file>", "the token of the server given by URL")
      .option("--json", "print JSON");

  add("new", "let the model write a plan; nothing is changed or run")
    .argument("<prompt>", "what to plan")
    .option("--backend <name>", "where the model is (default: offline)")
    .option("--model <name>", "the model; for scripted, the path of the script")
    .option("--base-url <url>", "of a server that speaks the OpenAI API")
    .option("--branch <name>", "name of the branch (default: ai-agent/ and words of the prompt)")
    .option("--protect <branch>", "further branch the agent must not work on; repeatable", collect)
    .action(runs(async () => (await import("./plan-commands.ts")).planNewCommand));
  add("preview", "show every difference and command, and what the rules say of them")
    .argument("<id>")
    .action(runs(async () => (await import("./plan-commands.ts")).planPreviewCommand));
  add("approve", "approve exactly the plan that the server holds")
    .argument("<id>")
    .option(
      "--digest <sha256>",
      "what you looked at; without it and without --yes you are asked, and without a terminal it is refused",
    )
    .option("--yes", "do not ask, unless a step is of high risk")
    .option("--ask", "ask even when the input is no terminal")
    .action(runs(async () => (await import("./plan-commands.ts")).planApproveCommand));
  add("execute", "run the approved plan, once")
    .argument("<id>")
    .option("--token <token>", "the approval (default: the one that approve kept)")
    .option("--digest <sha256>", "of the plan (default: the approved one)")
    .option("--yes", "answer yes to questions but those of high risk")
    .option("--ask", "ask even when the input is no terminal")
    .action(runs(async () => (await import("./plan-commands.ts")).planExecuteCommand));
  add("verify", "run the commands that prove what was run")
    .argument("<id>")
    .option("--token <token>", "the approval that the run was opened with")
    .option("--digest <sha256>", "of the plan")
    .option("--yes", "answer yes to questions but those of high risk")
    .option("--ask", "ask even when the input is no terminal")
    .action(runs(async () => (await import("./plan-commands.ts")).planVerifyCommand));
  add("status", "show a plan, or list the plans")
    .alias("list")
    .argument("[id]")
    .action(runs(async () => (await import("./plan-commands.ts")).planStatusCommand));
}

const planHelp = `
The approval is for one digest, one run and ten minutes. approve keeps its token in the state directory, readable by you
alone, for execute and verify, and prints it only with --json.

Exit codes: 0 done (verify: every check ran and passed), 1 failed, partial, unverified or no valid plan, 2 wrong command
line or unknown plan, 3 refused: by a rule, by a person, by a digest or token that does not fit, 130 interrupted.
`;
