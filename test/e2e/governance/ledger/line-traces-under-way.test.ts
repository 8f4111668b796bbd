import { rename, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { traceLines } from "@gennai/client/trace-lines";
import { type InvokeEvent, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { TracedOrigin } from "@gennai/protocol/model/governance/line-trace";
import { WorkspaceProvenance } from "@gennai/provenance/workspace-provenance";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { eventsOf, startSession, Watcher } from "../../rpc/session-client.ts";
import { staging } from "../../sandbox/staged/staging.ts";

// Anyone who asks while something is under way gets what is right, or "unknown".

const { signal } = new AbortController();

/** Whose each line of a text is, by the server. */
async function ask(
  server: TestServer,
  sessionId: string,
  path: string,
  text: string,
): Promise<readonly TracedOrigin[]> {
  const { governance } = server;
  const trace = await traceLines(governance, { sessionId, path, text }, { signal });
  if (trace === undefined) throw new Error("It was not asked about.");
  expect(trace.trust.status).toBe("ok");
  return trace.runs.flatMap(({ lineCount, origin }) => Array.from({ length: lineCount }, () => origin));
}

/** Resolves when the turn is over, also on a machine that does much else. */
function ended(watcher: Watcher, turnId: string): Promise<true> {
  const ends: readonly InvokeState[] = [InvokeState.COMPLETED, InvokeState.ERROR];
  const isEnd = ({ event, turnId: of }: InvokeEvent): boolean =>
    of === turnId && event.case === "status" && ends.includes(event.value.state);
  return watcher.until((events) => events.some(isEnd) || undefined);
}

function lines(text: string): readonly string[] {
  return text.split("\n").slice(0, -1);
}

const steps = 15;
const anchor = "// The end of what there is.";
const lineOf = (step: number): string => `export const resultOfStep${step} = measureTheStep(${step * 1_000});`;

test("a file that a turn and a person change at the same time is right, or unknown, whenever one asks", async () => {
  const path = "src/log.js";
  const edits = Array.from({ length: steps }, (_, step) => [
    call("Read", { path }),
    // The file may be changed in between; then the edit is refused.
    call("Edit", { path, old_string: anchor, new_string: `${lineOf(step)}\n${anchor}` }),
    call("Bash", { command: "sleep 0.2" }),
  ]).flat();
  await using server = await startTestServer({
    files: { [path]: `import { measureTheStep } from "./measure.js";\n${anchor}\n` },
    steps: [...edits, { text: ["Done."] }],
  });
  const { workspace, stateDir } = server;
  const sessionId = await startSession(server);
  await using watcher = await Watcher.attach(server, sessionId, { capabilities: {} });
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "go" });
  let isRunning = true;
  const turn = ended(watcher, turnId).finally(() => {
    isRunning = false;
  });

  let typed = 0;
  const person = async (): Promise<void> => {
    while (isRunning) {
      // Mostly while nothing of the turn is at the file, however slow the machine is.
      const done = eventsOf(watcher.events, "changeSetApplied").length;
      if (done <= typed) {
        await delay(20);
        continue;
      }
      const text = await workspace.read(path);
      // As an editor saves: all of it or nothing.
      await writeFile(workspace.path("typed.tmp"), `// A person typed remark ${typed} by hand here.\n${text}`);
      await rename(workspace.path("typed.tmp"), workspace.path(path));
      typed += 1;
    }
  };

  /** Records that were named for each line of a step. */
  const named = new Map<string, Set<number>>();
  let answers = 0;
  const take = (
    text: string,
    origins: readonly { readonly type: string; readonly write?: { readonly seq: number } }[],
  ) => {
    answers += 1;
    for (const [at, line] of lines(text).entries()) {
      const seq = origins[at]?.write?.seq;
      if (seq !== undefined) named.set(line, (named.get(line) ?? new Set()).add(seq));
    }
  };
  const asker = async (): Promise<void> => {
    while (isRunning) {
      const text = await workspace.read(path);
      take(text, await ask(server, sessionId, path, text));
      const unsaved = `// A person types this now, and has not saved it.\n${text}`;
      take(unsaved, await ask(server, sessionId, path, unsaved));
      // As the command does, without a server.
      const provenance = await WorkspaceProvenance.open({ workspaceRoot: workspace.root, stateDir });
      expect(provenance.trust.status, provenance.trust.message).toBe("ok");
      take(text, await provenance.originsOf(path, text));
    }
  };
  await Promise.all([turn, person(), asker()]);

  const { governance } = server;
  const { records } = await governance.listLedgerRecords({ sessionId, limit: 1000 });
  const bySeq = new Map(records.map(({ seq, json }) => [Number(seq), json]));
  const wrong = [...named].flatMap(([line, seqs]) =>
    [...seqs].filter((seq) => !bySeq.get(seq)?.includes(line)).map((seq) => `#${seq}: ${line}`),
  );
  expect(wrong).toEqual([]);
  expect([...named.keys()].filter((line) => line.startsWith("// A person"))).toEqual([]);
  // Or it tested nothing.
  expect(typed).toBeGreaterThan(3);
  expect(answers).toBeGreaterThan(5);
  expect(named.size).toBeGreaterThan(3);
  const text = await workspace.read(path);
  const origins = await ask(server, sessionId, path, text);
  const unnamed = lines(text).filter((line, at) => line.startsWith("export") && origins[at]?.type !== "recorded");
  expect(unnamed).toEqual([]);
});

test("what a staged command writes is nobody's until it is kept", async () => {
  const path = "made.txt";
  const content = Array.from(
    { length: 6 },
    (_, at) => `A line that the command wrote, number ${at}, with a few words.\n`,
  );
  const print = content.map((line) => `echo '${line.trimEnd()}' >> ${path}; sleep 0.2`).join("; ");
  await using server = await staging([print]);
  const sessionId = await startSession(server);
  await using watcher = await Watcher.attach(server, sessionId, { capabilities: {} });
  const text = content.join("");
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "go" });
  let isRunning = true;
  const turn = ended(watcher, turnId).finally(() => {
    isRunning = false;
  });
  const meanwhile: string[] = [];
  while (isRunning) {
    const origins = await ask(server, sessionId, path, text);
    // Where it was kept while the answer was on its way, the answer may be either.
    const isThere = await server.workspace.read(path).then(
      () => true,
      () => false,
    );
    if (!isThere) meanwhile.push(...origins.map((origin) => origin.type));
    await Promise.race([turn, delay(50)]);
  }
  expect(new Set(meanwhile)).toEqual(new Set(["unknown"]));
  // Or it tested nothing.
  expect(meanwhile.length).toBeGreaterThan(0);
  expect(await server.workspace.read(path)).toBe(text);
  expect(await ask(server, sessionId, path, text)).toMatchObject(
    content.map(() => ({ type: "recorded", write: { call: { tool: "Bash" } } })),
  );
});
