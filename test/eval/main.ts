import { fileURLToPath } from "node:url";
import { readCommandLine, usageError } from "../../scripts/lib/command-line.mjs";
import { askModel } from "./play/ask-model.ts";
import { longSession } from "./play/long-session.ts";
import { playAll, shortfalls } from "./play/play-all.ts";
import { spread } from "./play/spread.ts";
import { recordedWork } from "./recorded/recorded-work.ts";
import { modelTable } from "./score/model-table.ts";
import { scoreTable } from "./score/score-table.ts";

const help = `npm run eval -- [OPTIONS]                        recorded work, played through the real tools; no model is asked
npm run eval -- --model URL --name NAME [OPTIONS] a real model works on tasks, and their tests decide
npm run eval -- long-session [CALLS]              what a long session sends, and what a provider's cache can serve of it

Recorded work is what lies in a folder, told by what it looks like:
  a git repository     each commit is made again on its parent's files: Read, then Edit, MultiEdit, Write, Delete.
                       Each file must be the commit's, byte for byte.
  *.jsonl *.json *.traj  transcripts of agents (Claude Code, codex, pi, opencode, OpenHands, SWE-agent, Gemini CLI):
                       does each call fit the tool that a model is offered here, and what do the rules say of each
                       shell command? Their searches are made again in the repositories.
  */.meta/config.json  a task as Exercism lays it out (Python; JavaScript with node:test): its tests must fail, and
                       pass with the reference solution, in commands that run staged.

Options:
  --recorded FOLDER    what to play; by default the samples in test/eval/samples
  --commits N          commits of each repository (50)
  --calls N            calls of transcripts (all)
  --searches N         searches in each repository (50)
  --tasks N            tasks (20)
  --model URL          address of chat completions, e.g. http://127.0.0.1:8000/v1 or https://api.openai.com/v1
  --name NAME          the model there. Its key is $GENNAI_API_KEY; a server without keys takes any
  --help               this text

The table says for each kind how many were accepted as they are, or after the gate put them into the tool's own words
(normalised), asked about, refused by a rule, or did not fit (failed); and how many came out identical. Below it stand the
classes of what was not accepted, with an example each. Ends with 1 when something let through is not as recorded, when
under 98 % of the calls fit, or when a model solved nothing.
`;

const { values, positionals } = readCommandLine(help, {
  allowPositionals: true,
  options: {
    recorded: { type: "string", default: fileURLToPath(new URL("samples", import.meta.url)) },
    commits: { type: "string", default: "50" },
    calls: { type: "string", default: "1000000" },
    searches: { type: "string", default: "50" },
    tasks: { type: "string", default: "20" },
    model: { type: "string" },
    name: { type: "string" },
  },
});
const [what] = positionals;
if (what === "long-session") process.stdout.write(await longSession(count("CALLS", positionals[1] ?? "300")));
else if (what !== undefined) usageError(`There is no ${what}.`, help);
else process.exitCode = (await (values.model === undefined ? played() : asked(values.model))) ? 0 : 1;

async function played(): Promise<boolean> {
  const work = recordedWork(values.recorded);
  const { repositories, calls, tasks } = work;
  if (repositories.length + calls.length + tasks.length === 0) {
    usageError(`${values.recorded} holds no git repository, no transcript and no task.`, help);
  }
  const amounts = {
    commits: count("--commits", values.commits),
    calls: count("--calls", values.calls),
    searches: count("--searches", values.searches),
    tasks: count("--tasks", values.tasks),
  };
  const { scores, otherTools } = await playAll(work, amounts, (text) => process.stderr.write(`${text}\n`));
  process.stdout.write(scoreTable(scores));
  if (otherTools.size > 0) {
    const names = [...otherTools].sort(([, one], [, other]) => other - one).map(([name, times]) => `${name} ${times}`);
    process.stdout.write(`\nNo tool of this kind is offered here: ${names.join(", ")}\n`);
  }
  const missing = shortfalls(scores);
  for (const text of missing) process.stdout.write(`\nNot met: ${text}\n`);
  return missing.length === 0;
}

async function asked(url: string): Promise<boolean> {
  if (values.name === undefined) usageError("Say which model: --model URL --name NAME.", help);
  const { tasks } = recordedWork(values.recorded);
  if (tasks.length === 0) usageError(`${values.recorded} holds no tasks: folders with .meta/config.json.`, help);
  // A server that asks for no key takes any.
  const model = { url, name: values.name, key: process.env["GENNAI_API_KEY"] ?? "none" };
  const attempts = [];
  for (const task of spread(tasks, count("--tasks", values.tasks))) {
    process.stderr.write(`${task.name}\n`);
    attempts.push(await askModel(task, model));
  }
  process.stdout.write(modelTable(attempts));
  return attempts.some(({ isSolved }) => isSolved);
}

function count(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 0)
    return usageError(`${name} takes a number, not ${JSON.stringify(text)}.`, help);
  return number;
}
