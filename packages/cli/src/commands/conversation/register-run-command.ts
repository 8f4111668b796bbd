import type { Command } from "commander";
import type { Console } from "../../terminal/console.ts";
import { exitCodesHelp } from "../../terminal/exit-code.ts";
import type { CommandHost } from "../command-host.ts";
import { collect, commandsOption, modelOptions, protectOption, serverOptions } from "../options/shared-options.ts";
import type { RunFlags } from "../run/run-options.ts";
import { settingOptions } from "../run/setting-options.ts";

export function registerRunCommand(program: Command, { runs }: CommandHost): void {
  const command = program.command("run").description("do one thing; without a prompt, a conversation");
  commandsOption(settingOptions(modelOptions(protectOption(serverOptions(command)))), "; of a server of its own")
    .argument("[prompt...]", "what to do; without it, a conversation begins")
    .option("--workspace <dir>", "directory to work in (default: here)")
    .option("--scenario <name>", "how to go about it, e.g. CODE, EDITOR_CODE, RESPOND (default: by the mode)")
    .option(
      "--mode <mode>",
      "branch: write on a branch of its own; proposal: show changes and apply what you keep; plan: approve a plan first",
    )
    .option("--branch <name>", "name of the branch (default: ai-agent/ and words of the prompt)")
    .option(
      "--worktree",
      "work in a git working tree of its own, beside the repository, so that sessions do not disturb each other",
    )
    .option("--yes", "answer yes to all questions but those of high risk, and keep all that is proposed")
    .option("--ask", "ask even when the input is no terminal")
    .option("--allow <host:port>", "let commands reach this without a question; repeatable", collect)
    .option("--keep <hunk>", "proposal: keep only this, e.g. src/a.ts#2 or src/a.ts; repeatable", collect)
    .option("--refuse <hunk>", "proposal: keep all but this; repeatable", collect)
    .option(
      "--attempts <number>",
      "try the prompt this many times (2 to 8), each time on a copy of its own; the best is offered",
    )
    .option("--parallel <number>", "attempts at once", "2")
    .option("--check <command>", "what decides between attempts (default: the project's check)")
    .option("--attempt-model <name>", "model of the first, the second, … attempt; repeatable", collect)
    .option("--ci", "in a pipeline: no questions, and the exit code says what stopped it")
    .option(
      "--ci-policy <file>",
      "what passes with --ci although a rule asks about it; a file outside of the workspace",
    )
    .option("--artefacts <dir>", "with --ci: a directory to make for the result, the refusals as SARIF, and the ledger")
    .option("--annotations <for>", "with --ci: github or none (default: github in its Actions)")
    .option("--image <file>", "an image for the model to look at (PNG, JPEG, GIF, WebP); repeatable", collect)
    .option("--resume [id]", "go on with this session; without an id, choose one")
    .addOption(command.createOption("--session <id>").hideHelp())
    .option("--continue", "continue the newest session of the workspace")
    .option("--intent <id>", "the intent to work under; `gennai intents list` shows them")
    .option("--plain", "a conversation in plain lines that are printed once, e.g. for a screen reader")
    .option("--no-thinking", "do not ask the model for its thinking")
    .option("--json", "print JSON lines: the session, every event, and a closing result")
    .option("--output-schema <file>", "a JSON Schema that the answer must fit; it is asked for twice at most")
    .option("-o, --output <file>", "also write the answer to this file")
    .addHelpText("after", runHelp)
    .action(runs(async () => runOrConverse));
}

async function runOrConverse(words: readonly string[], flags: RunFlags, console: Console): Promise<number> {
  const { requestOf } = await import("../run/request.ts");
  const request = await requestOf(words, flags, console);
  if (flags.attempts !== undefined && flags.ci !== true)
    return (await import("../run/run-attempts.ts")).runAttempts(request, flags, console);
  if (flags.ci === true) return (await import("../run/run-in-pipeline.ts")).runInPipeline(request, flags, console);
  (await import("../run/run-options.ts")).refusePipelineOptions(flags);
  if (request === undefined) return (await import("./converse.ts")).converse(flags, console);
  return (await import("../run/run-command.ts")).runCommand(request, flags, console);
}

const runHelp = `
In Branch Mode (the default) the agent never works on main, master, develop, release/* or the remote's default branch: it
goes to a branch of its own, ai-agent/… . Questions are answered y, n, n and a reason, t (for this turn) or s (for this
session); anything else is a no. Without a terminal and without --yes, every question is a no, but for hosts and ports that
--allow names, and unless somebody has the session open in a page or an editor: then they are asked.

Where the output is no terminal, it gets the answer alone; all else goes to the errors.
--json prints one object a line, each with a "type": first {"type":"session","format":1,"session":{"sessionId","workspace","branch",
"model","version"}}, then events as in docs/reference/events.md, whose "type" names the field that is set, and last {"type":"result",
"result":{"sessionId","turnId","outcome","text","refused","exitCode","usage","changedFiles","proposals","branch","intent"}}.
What is piped in is told to the model behind the prompt, with secrets masked.

--attempts: nothing is written before you keep it. What attempts ask, they ask in turn, each line with its number. Attempts whose
check passes win, then those that change fewer lines. Budgets hold over all of them together. gennai attempts shows the others.
${exitCodesHelp}
With --ci also:
  4    a rule asked about something, and the policy does not allow it
  5    a budget or limit was used up, or the model went round in circles
  6    the model could not be asked, or gave no answer
`;
