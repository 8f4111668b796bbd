import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bash } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, onTestFinished, test } from "vitest";
import { commandLine } from "../../../packages/cli/test/test-console.ts";

/** A repository on a branch of its own, with a state directory and a model that follows a script. */
async function world(steps: readonly Readonly<Record<string, unknown>>[]) {
  const state = await temporaryDirectory();
  const repository = await temporaryRepository({
    "src/a.ts": "a\n",
    "b.ts": "b\n",
    "PLANTED-NAME.ts": "PLANTED-CONTENT\n",
  });
  const script = state.path("script.yaml");
  await state.write("script.yaml", JSON.stringify({ turns: [{ match: ".", steps: [...steps, { text: ["Done."] }] }] }));
  const environment = { ...process.env, GENNAI_STATE_DIR: state.path("state"), NO_COLOR: "1" };
  const gennai = commandLine(repository.root, environment);
  const run = (...args: readonly string[]) =>
    gennai("run", "--yes", "--commands", "ask", "--server", "own", "--backend", "scripted", "--model", script, ...args);
  return {
    state,
    repository,
    gennai,
    run,
    stateDir: state.path("state"),
    [Symbol.asyncDispose]: async () => {
      await repository[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
    },
  };
}

test("gennai undo shows the points to go back to, says what it would do, and goes back", async () => {
  await using place = await world([bash("rm src/a.ts && echo agent > b.ts")]);
  const { repository, gennai, run } = place;
  expect((await run("change it")).code).toBe(0);
  expect(existsSync(repository.path("src/a.ts"))).toBe(false);
  await repository.write("b.ts", "user\n");

  const list = await gennai("undo", "--list", "--server", "own");
  expect(list.out).toMatch(/turn 1 .*change it\n.*b\.ts, -src\/a\.ts/);
  const planned = await gennai("undo", "--turn", "1", "--dry-run", "--server", "own");
  expect(planned.out).toContain("would bring back src/a.ts\n");
  expect(existsSync(repository.path("src/a.ts"))).toBe(false);
  const undone = await gennai("undo", "--turn", "1", "--server", "own");
  expect(undone.out).toBe("brought back src/a.ts\nleft as it is: b.ts (changed since, not by the agent)\n");
  expect(await repository.read("src/a.ts")).toBe("a\n");
  expect(await repository.read("b.ts")).toBe("user\n");
  expect((await gennai("undo", "--turn", "1", "--force", "b.ts", "--server", "own")).out).toBe("restored b.ts\n");
  expect(await repository.read("b.ts")).toBe("b\n");
  expect((await gennai("undo", "--turn", "7", "--server", "own")).code).toBe(2);
  expect((await gennai("undo", "--dry-run", "--server", "own")).code).toBe(2);
});

test("a session works in a working tree of its own, and goes from one machine to another", async () => {
  await using place = await world([bash("echo agent > b.ts")]);
  const { repository, gennai, run } = place;
  onTestFinished(() => rmSync(`${repository.root}.worktrees`, { recursive: true, force: true }));
  const ran = await run("change it", "--worktree");
  expect(ran.err).toContain(".worktrees/ai-agent-change-it");
  expect(await repository.read("b.ts")).toBe("b\n");
  expect(await repository.git("symbolic-ref", "--short", "HEAD")).toBe("main");
  const tree = `${repository.root}.worktrees/ai-agent-change-it`;
  expect(readFileSync(join(tree, "b.ts"), "utf8")).toBe("agent\n");
  expect((await gennai("sessions", "worktrees")).out).toBe(`${tree}  ai-agent/change-it\n`);
  expect((await gennai("sessions", "worktrees", "--prune")).out).toContain("kept, it has changes");

  const [session = ""] = (await gennai("sessions", "--server", "own", "--workspace", tree)).out.split(" ");
  const exported = await gennai("sessions", "export", session, "--out", "bundle.jsonl");
  expect(exported).toMatchObject({ code: 0, out: `${repository.path("bundle.jsonl")}\n` });
  const imported = await gennai("sessions", "import", "bundle.jsonl");
  expect(imported.code).toBe(0);
  expect((await gennai("sessions", "--server", "own")).out).toContain(`${imported.out.trim()}  `);
  expect((await gennai("sessions", "import", "b.ts")).err).toContain("not a session that can be imported");
  expect((await gennai("sessions", "export", "none")).code).not.toBe(0);
});
