import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { cliScene } from "../../cli-scene.ts";

const files = { "src/a.ts": "let colour = 1;\n", "package.json": "{}\n" };
const request = "replace colour with color in src/a.ts then create notes.txt with hello";

type Scene = Awaited<ReturnType<typeof cliScene>>;
interface PlanJson {
  readonly planId: string;
  readonly state: string;
  readonly digest: string;
  readonly claimed: boolean;
  readonly executed: boolean;
  readonly verified: boolean;
  readonly steps: readonly {
    readonly id: string;
    readonly risk: string;
    readonly state: string;
    readonly failureClass: string;
  }[];
}

/** The last line of JSON that a command printed. */
function last<Json>(out: string): Json {
  return JSON.parse(out.trimEnd().split("\n").at(-1) ?? "") as Json;
}

async function planned(here: Scene, text = request) {
  const made = await here.run("plan", "new", text, "--json");
  const { sessionId, plan } = last<{ sessionId: string; plan: PlanJson }>(made.out);
  expect({ code: made.code, err: made.err }).toMatchObject({ code: 0 });
  return { sessionId, id: plan.planId, digest: plan.digest };
}

async function approved(here: Scene, text = request) {
  const plan = await planned(here, text);
  const { code, out, err } = await here.run("plan", "approve", plan.id, "--digest", plan.digest, "--json");
  expect({ code, err }).toMatchObject({ code: 0 });
  return { ...plan, token: last<{ approvalToken: string }>(out).approvalToken };
}

async function changedNothing(here: Scene): Promise<void> {
  expect(await here.repository.read("src/a.ts")).toBe(files["src/a.ts"]);
  expect(await readdir(here.repository.root)).not.toContain("notes.txt");
}

describe("gennai plan", () => {
  test("new, preview, approve, execute, verify: each a process of its own", async () => {
    await using here = await cliScene(files);
    const { id, digest } = await planned(here);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await here.repository.git("branch", "--show-current")).toMatch(/^ai-agent\//);

    const preview = await here.run("plan", "preview", id);
    expect(preview.code).toBe(0);
    for (const shown of ["-let colour = 1;", "+let color = 1;", "+hello", digest, "verify: grep", "medium risk"]) {
      expect(preview.out).toContain(shown);
    }
    await changedNothing(here);

    const approval = await here.run("plan", "approve", id, "--digest", digest);
    expect(approval.code).toBe(0);
    const [kept] = await readdir(join(here.state, "plan-approvals"));
    const file = join(here.state, "plan-approvals", kept ?? "");
    const { approvalToken } = JSON.parse(await readFile(file, "utf8")) as { approvalToken: string };
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(approval.out + approval.err).not.toContain(approvalToken);

    const run = await here.run("plan", "execute", id);
    expect({ code: run.code, err: run.err }).toEqual({ code: 0, err: "" });
    expect(run.out).toContain("claimed yes · executed yes · verified no");
    expect(await here.repository.read("src/a.ts")).toBe("let color = 1;\n");
    expect(await here.repository.read("notes.txt")).toBe("hello\n");

    const verified = await here.run("plan", "verify", id);
    expect(verified.code).toBe(0);
    expect(verified.out).toContain("claimed yes · executed yes · verified yes");
    expect((await here.run("plan", "status", id)).out).toContain("done");
    expect((await here.run("plan", "status")).out).toContain(id);
    expect(await readdir(join(here.state, "plan-approvals"))).toEqual([]);
    expect((await here.run("ledger", "verify")).code).toBe(0);
  });

  test("a second approval says that there is one, and is none", async () => {
    await using here = await cliScene(files);
    const { id, digest } = await planned(here);
    expect((await here.run("plan", "approve", id, "--digest", digest)).out).toMatch(/Approved until \S+ \S+ UTC/);
    const before = (await here.run("ledger", "show", "--json")).out;
    const again = await here.run("plan", "approve", id, "--digest", digest);
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("It is approved already") });
    expect((await here.run("ledger", "show", "--json")).out).toBe(before);
    // Another look makes it void, and then it can be approved again.
    expect((await here.run("plan", "preview", id)).code).toBe(0);
    expect((await here.run("plan", "execute", id)).code).toBe(3);
    expect((await here.run("plan", "approve", id, "--yes")).out).toContain("Approved until");
    expect((await here.run("plan", "execute", id)).code).toBe(0);
  });

  test("on a terminal, anything but yes approves nothing", async () => {
    await using here = await cliScene(files);
    const { id } = await planned(here);
    for (const [answer, code] of [
      ["", 3],
      ["n", 3],
      ["yes", 0],
    ] as const) {
      const console = here.console();
      const done = runCommandLine(["plan", "approve", id, "--ask"], console);
      await expect.poll(() => console.complained()).toContain("Approve exactly this plan");
      console.input.write(`${answer}\n`);
      expect(await done).toBe(code);
    }
  });

  test("where nobody can be asked, only a digest or --yes approves", async () => {
    await using here = await cliScene(files);
    const { id, digest } = await planned(here);
    const refused = await here.run("plan", "approve", id);
    expect(refused).toMatchObject({ code: 3, err: expect.stringContaining(`plan approve ${id} --digest ${digest}`) });
    expect(refused.err).toContain("or say --yes");
    expect((await here.run("plan", "execute", id)).code).toBe(3);
    await changedNothing(here);
    expect((await here.run("plan", "approve", id, "--yes")).code).toBe(0);
  });

  test("a step that fails: partial, told by the exit code, and undone as a whole", async () => {
    await using here = await cliScene(files);
    const { id } = await approved(
      here,
      "create notes.txt with hello then run false then create late.txt with x then verify ls",
    );
    const run = await here.run("plan", "execute", id, "--yes", "--json");
    const { plan } = last<{ result: { plan: PlanJson } }>(run.out).result;
    expect(run.code).not.toBe(0);
    expect(plan).toMatchObject({ state: "partial", verified: false });
    expect(plan.steps.map(({ state }) => state)).toEqual(["executed", "failed", "skipped"]);
    expect(await readdir(here.repository.root)).not.toContain("late.txt");
    expect((await here.run("undo")).code).toBe(0);
    await changedNothing(here);
  });

  test("a verification that fails is not success", async () => {
    await using here = await cliScene(files);
    const { id } = await approved(here, "create notes.txt with hello then verify grep goodbye notes.txt");
    expect((await here.run("plan", "execute", id)).code).toBe(0);
    const verified = await here.run("plan", "verify", id, "--json");
    expect(verified.code).toBe(1);
    expect(last<{ result: { plan: PlanJson } }>(verified.out).result.plan).toMatchObject({
      executed: true,
      verified: false,
    });
  });

  test.each([
    ["words are no plan", "say hello", 0],
    ["what cannot be planned", "refactor it all", 1],
  ])("%s", async (_, text, code) => {
    await using here = await cliScene(files);
    const made = await here.run("plan", "new", text, "--json");
    expect(made.code).toBe(code);
    expect(last<{ plan?: unknown }>(made.out).plan).toBeUndefined();
    await changedNothing(here);
  });

  test("what the rules deny in a verification command is said at the preview, and nobody is asked to approve", async () => {
    await using here = await cliScene(files);
    const denied = "replace colour with color in src/a.ts then verify rm -rf .git";
    const why = /It cannot be approved: Step "s1": .* Submit a plan without it\./;
    const { id, digest } = await planned(here, denied);
    expect(await here.run("plan", "preview", id)).toMatchObject({ code: 3, out: expect.stringMatching(why) });
    const approve = await here.run("plan", "approve", id, "--digest", digest);
    expect(approve).toMatchObject({ code: 3, err: expect.stringMatching(why) });
    const run = await here.run("run", "--mode", "plan", denied);
    expect(run).toMatchObject({ code: 3, out: expect.stringContaining("The rules refuse part of this plan") });
    expect(run.out).not.toContain("Approve it later");
  });

  test("a file that may not be changed for want of an intent is shown as that, with what to do", async () => {
    await using here = await cliScene(files);
    expect((await here.run("intents", "mode", "required")).code).toBe(0);
    const { id } = await planned(here, "create notes.txt with hello then verify ls");
    const preview = await here.run("plan", "preview", id);
    expect(preview.code).toBe(3);
    expect(preview.out).toContain("change of a file, not shown because a rule refuses it");
    expect(preview.out).not.toMatch(/^ {2}\$ $/m);
    expect(preview.out).toContain("Select an intent for the session of the plan, then preview it again.");
  });

  test("an unknown plan and an empty request are usage errors", async () => {
    await using here = await cliScene(files);
    expect((await here.run("plan", "preview", "nope")).code).toBe(2);
    expect((await here.run("plan", "new", " ")).code).toBe(2);
  });
});

describe("gennai run --mode plan", () => {
  test("without anybody to approve, nothing runs, and it says how to go on", async () => {
    await using here = await cliScene(files);
    const { code, out } = await here.run("run", "--mode", "plan", request);
    expect(code).toBe(3);
    expect(out).toContain("gennai plan approve");
    await changedNothing(here);
  });

  test("approved at the terminal, it runs and is verified", async () => {
    await using here = await cliScene(files);
    const console = here.console();
    const done = runCommandLine(["run", "--mode", "plan", "--ask", request], console);
    await expect.poll(() => console.complained()).toContain("Approve exactly this plan");
    await changedNothing(here);
    console.input.write("y\n");
    expect(await done).toBe(0);
    expect(console.printed()).toContain("claimed yes · executed yes · verified yes");
    expect(await here.repository.read("notes.txt")).toBe("hello\n");
  });

  test("/mode plan at the prompt: written, approved there, run and verified", async () => {
    await using here = await cliScene(files);
    const console = here.console();
    const done = runCommandLine(["run", "--ask"], console);
    console.input.write(`/mode plan\n/mode\n/code ${request}\n${request}\n`);
    await expect.poll(() => console.complained()).toContain("Approve exactly this plan");
    await changedNothing(here);
    console.input.write("y\n");
    await expect.poll(() => console.printed()).toContain("executed yes · verified yes");
    console.input.end("/mode proposal\n/exit\n");
    expect(await done).toBe(0);
    expect(console.printed()).toContain("Plan mode from now on");
    expect(console.printed()).toContain("Plan Mode.\nPlan mode cannot change its scenario.");
    expect(await here.repository.read("notes.txt")).toBe("hello\n");
  });

  test("--yes approves what is not of high risk; --json ends with the result", async () => {
    await using here = await cliScene(files);
    const { code, out } = await here.run("run", "--mode", "plan", "--yes", "--json", request);
    expect(code).toBe(0);
    expect(last(out)).toMatchObject({ result: { plan: { state: "done", verified: true }, exitCode: 0 } });
  });
});
