import type { OwnLogin } from "@gennai/egress/keys/login/own-login";
import type { AddedLogin, AskToSend, HeldRequest } from "@gennai/egress/network/added-login";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import type { Connection } from "@gennai/governance/connection";
import type { ExecutionContext } from "@gennai/governance/tool";
import type { StagedShellRun } from "@gennai/shell/run/run-staged";
import { expect, test } from "vitest";
import { runWithNetwork } from "#tools/commands/run-with-network";

const endpoint = { host: "maven.example", port: 443 };
const login = "the login of a test";
const added: AddedLogin = {
  endpoint,
  isTls: true,
  login,
  secrets: [],
  placeholder: "placeholder",
  use: () => undefined,
  trusted: [],
};
const own: OwnLogin = {
  endpoint,
  login,
  isNeeded: true,
  inRun: {},
  rehearsals: [{ ...added, rehearses: () => undefined }],
  open: () => Promise.resolve(added),
};
/** Its host is asked about without the login. */
const perhaps: OwnLogin = { ...own, isNeeded: false };
const other = { host: "npm.example", port: 443 };
const ofOther: OwnLogin = {
  ...own,
  endpoint: other,
  rehearsals: [],
  open: async () => ({ ...added, endpoint: other }),
};
const refused: Connection = { ...endpoint, state: "refused", count: 1, sent: 0, received: 0 };

type Sent = Pick<HeldRequest, "what" | "pretends" | "follows"> & { readonly endpoint?: typeof endpoint };
const file = (what: string): Sent => ({ what, pretends: true });
const beside = (what: string, follows: string): Sent => ({ what, pretends: true, follows });

/**
 * What a command that sends this in each of its runs is told; an upper case answer went to the host.
 *
 * @param runs what it sends in each; the last one again and again @param answers of a person, in their order, then a no
 * @param options.atOnce it waits for no answer @param options.first the host that its first run is refused
 */
async function course(
  runs: readonly (readonly Sent[])[],
  answers: readonly ("yes" | "no")[],
  { logins = [own], atOnce = false, first = refused } = {},
) {
  const [questions, dropped, told]: [(string | undefined)[], number[], string[][]] = [[], [], []];
  const given = [...answers];
  const start = async ({
    allowed,
    ask,
  }: {
    allowed?: readonly unknown[];
    ask?: AskToSend;
  }): Promise<StagedShellRun> => {
    const at = told.length;
    const said: string[] = [];
    told.push(said);
    const answers: ReturnType<AskToSend>[] = [];
    for (const one of runs[Math.min(at, runs.length - 1)] ?? []) {
      const answer = ask?.({ endpoint, login, signal: new AbortController().signal, ...one });
      if (answer !== undefined) answers.push(answer);
      if (!atOnce) await answer;
    }
    for (const answer of await Promise.all(answers)) {
      said.push(answer === undefined ? "SENT" : typeof answer === "symbol" ? "pretended" : "refused");
    }
    const connections = allowed?.length === 0 ? [first] : [];
    const isOver = !said.includes("refused") && (said.length > 0 || connections.length === 0);
    const run = { state: "ended", exitCode: isOver ? 0 : 1, output: "" };
    // Nothing else of it is looked at here.
    return { run, connections, onlyLookedUp: [], drop: async () => void dropped.push(at) } as unknown as StagedShellRun;
  };
  const network: ExecutionContext["network"] = {
    standing: () => Promise.resolve([]),
    letThrough: ({ endpoints }) => {
      questions.push(...endpoints.map(({ sends }) => sends));
      if (given.shift() === "yes") return Promise.resolve({ type: "let-through", allowed: endpoints });
      // As the gate says it; the decision is not looked at here.
      const error = { code: "user_denied", message: "User denied execution." };
      return Promise.resolve({ type: "refused", error } as unknown as Awaited<
        ReturnType<ExecutionContext["network"]["letThrough"]>
      >);
    },
    reached: () => Promise.resolve(),
  };
  const { notes } = await runWithNetwork(
    {
      command: analyseCommand("mvn deploy", { cwd: "/w", home: "/h" }),
      stages: { privateAddress: () => Promise.resolve(undefined) },
      environment: {},
      workspaceRoot: "/w",
      cwd: "/w",
    },
    start,
    { own: { logins, inRun: () => ({ environment: {}, git: [], mounts: [], ports: [], packs: false }) } },
    { network, onOutput: () => undefined, signal: new AbortController().signal },
  );
  return { questions, dropped, told: told.map((said) => said.join(" ")), notes };
}

const deployed = [file("a"), beside("sum of a", "a"), file("b"), beside("list", "b")];

test("what is told to be done at first is one question, and is sent by the next run", async () => {
  const { questions, dropped, told } = await course([deployed], ["yes"]);
  expect({ questions, dropped, told }).toEqual({
    questions: ["a; b"],
    dropped: [0],
    told: ["pretended pretended pretended pretended", "SENT SENT SENT SENT"],
  });
});

test("after a no, what ran behind it is dropped, and it runs again with nothing told or asked", async () => {
  const { questions, dropped, told, notes } = await course([deployed], ["no"]);
  expect({ questions, dropped, told }).toEqual({
    questions: ["a; b"],
    dropped: [0],
    told: ["pretended pretended pretended pretended", "refused refused refused refused"],
  });
  expect(notes.join("\n")).toContain("[no way to the network: User denied execution.]");
});

test.each<[name: string, runs: readonly (readonly Sent[])[], questions: readonly (string | undefined)[], last: string]>(
  [
    ["another file than the one shown", [[file("a")], [file("x")]], ["a", "x"], "refused"],
    ["a file more", [[file("a")], [file("a"), file("x")]], ["a", "x"], "SENT refused"],
    ["the same file twice", [[file("a")], [file("a"), file("a")]], ["a", "a"], "SENT refused"],
    [
      "what belongs to a file that was not sent",
      [[file("a")], [beside("sum of x", "x"), file("a")]],
      ["a", "sum of x"],
      "refused SENT",
    ],
    [
      "a change that is never told to be done",
      [[file("a"), { what: "delete all" }]],
      [undefined, "a", "delete all"],
      "refused refused",
    ],
    [
      "more than a question shows",
      [["x", "y"].map((one) => file(one.repeat(3_000)))],
      [undefined, "x".repeat(3_000), "y".repeat(3_000)],
      "refused refused",
    ],
    ["another one in each run", ["a", "b", "c", "d"].map((one) => [file(one)]), ["a", "b"], "refused"],
  ],
)("a yes is for nothing else: %s", async (_name, runs, questions, last) => {
  const found = await course(runs, ["yes"]);
  expect(found.questions).toEqual(questions);
  expect(found.told.at(-1)).toBe(last);
});

test("a host that was allowed before what it would be sent was known is asked about again, with all of it", async () => {
  const { questions, told } = await course([[{ what: "x" }], [file("a")]], ["yes", "yes"], { logins: [perhaps] });
  expect({ questions, told }).toEqual({
    questions: [undefined, "a"],
    told: ["refused", "pretended", "SENT"],
  });
});

test("nothing is told to be done while a person may still say yes to something else", async () => {
  const both: readonly Sent[] = [{ what: "tag", endpoint: other }, file("a")];
  const { told, questions } = await course([[], both], ["yes", "yes"], {
    logins: [own, ofOther],
    atOnce: true,
    first: { ...refused, ...other },
  });
  expect({ questions, told: told.at(-1) }).toEqual({ questions: [undefined, "tag"], told: "SENT refused" });
});
