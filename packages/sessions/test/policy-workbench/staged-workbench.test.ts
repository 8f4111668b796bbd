import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { TestOutside } from "@gennai/testkit/test-outside";
import { describe, expect, test } from "vitest";
import type { PersonsNetwork, WantedNetwork } from "#policy-workbench/persons-network";
import { PolicyWorkbench } from "#policy-workbench/policy-workbench";
import { EmergencyHere } from "#rules/emergency-here";

const files = {
  "a.txt": "one\n",
  "do.mjs":
    'import fs from "node:fs"; console.log(fs.existsSync(".env")); fs.writeFileSync("AGENTS.md", "be kind"); fs.writeFileSync("made.txt", "1"); fs.writeFileSync(".env", "2");\n',
  "lock.mjs": 'import fs from "node:fs"; fs.writeFileSync("locked.txt", "1"); fs.writeFileSync("b.txt", "1");\n',
  ".gennai/rules.yaml":
    'readOnlyPaths: [locked.txt]\nzeroAccessPaths: [customers/]\nbashToolPatterns: [{pattern: "\\\\bmake\\\\s+release\\\\b", reason: releases}]\n',
  "customers/list.txt": "canary\n",
};

/** A workbench as a server here would judge. */
async function bench(commands: "staged" | "ask" = "staged", outside?: TestOutside) {
  await using parts = new AsyncDisposableStack();
  const state = parts.use(await temporaryDirectory());
  const home = parts.use(await temporaryDirectory());
  const repository = parts.use(await temporaryRepository(files));
  writeFileSync(repository.path(".env"), "TOKEN=mine\n");
  const workbench = parts.use(
    await PolicyWorkbench.open({
      workspace: repository.root,
      stateDir: state.root,
      home: home.root,
      commands,
      outside,
      environment: { PATH: process.env["PATH"] },
    }),
  );
  const owned = parts.move();
  return { workbench, repository, state, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

describe("where commands are staged", () => {
  test("what is refused by its text is refused, all else is staged", async () => {
    await using on = await bench();
    const decided = async (command: string) => {
      const { outcome, rule } = await on.workbench.decide("Bash", { command });
      return `${outcome} ${rule}`.trim();
    };
    for (const command of ["npm test", "git status", "echo x > a.txt"]) expect(await decided(command)).toBe("staged");
    expect(await decided("make release")).toBe("deny rules/project/1");
    expect(await decided("rm -rf /")).toBe("deny floor/recursive-delete");
    expect(await on.workbench.try("make release")).toMatchObject({ report: { outcome: "deny" }, trial: undefined });
    expect((await on.workbench.decide("RunInTerminal", { command: "npm test" })).outcome).not.toBe("staged");
    expect((await on.workbench.decide("Write", { file_path: "a.txt" })).outcome).toBe("allow");
    expect(on.workbench.unstaged).toBeUndefined();
  });

  test("where they are switched off, that is said, and they are judged by their text", async () => {
    await using on = await bench("ask");
    expect(on.workbench.unstaged).toContain("--commands ask");
    expect((await on.workbench.decide("Bash", { command: "node do.mjs" })).outcome).toBe("ask");
    expect((await on.workbench.decide("Bash", { command: "git status" })).outcome).toBe("allow");
    await expect(on.workbench.try("git status")).rejects.toMatchObject({ code: "failed_precondition" });
  });
});

describe("a command that is tried", () => {
  test("really runs; each of its changes is judged, and none is kept", async () => {
    await using on = await bench();
    const { report, trial } = await on.workbench.try(
      "node do.mjs; echo 2 > a.txt; git add a.txt; git tag v1; grep -rh canar[y] .",
    );
    expect(report.outcome).toBe("staged");
    expect(trial).toMatchObject({ state: "exited", verdict: "ask" });
    expect(trial?.output).toContain("false");
    expect(trial?.output).not.toContain("canary");
    expect(trial?.neverKept).toEqual([".env (it is hidden from commands)"]);
    expect(trial?.changes.map(({ name, what, verdict }) => `${verdict} ${name} ${what.join()}`).toSorted()).toEqual([
      "allow .git ",
      "allow a.txt update",
      "allow made.txt create",
      "ask AGENTS.md create",
      "ask refs/tags/v1 ref refs/tags/v1",
    ]);
    expect(trial?.changes.find(({ name }) => name === "AGENTS.md")).toMatchObject({
      rule: expect.stringMatching(/^control-files/),
    });
    expect(trial?.diff).toContain("+be kind");
    expect(await on.repository.read("a.txt")).toBe("one\n");
    expect(
      ["made.txt", "AGENTS.md", ".git/refs/tags/v1"].filter((path) => existsSync(on.repository.path(path))),
    ).toEqual([]);
  });

  test("names the rule that refuses a change, and leaves nothing behind when the workbench closes", async () => {
    await using on = await bench();
    const { trial } = await on.workbench.try("node lock.mjs");
    expect(trial?.verdict).toBe("deny");
    expect(trial?.changes).toMatchObject([
      { name: "b.txt", verdict: "allow" },
      { name: "locked.txt", verdict: "deny", rule: "rules/project/readOnlyPaths/1" },
    ]);
    await on.workbench[Symbol.asyncDispose]();
    expect(readdirSync(`${on.state.root}/stages`)).toEqual([]);
  });
});

describe("what a person's command wants of the network", () => {
  const fetching = "curl -sS --max-time 20 http://data.example/a -o answer";

  test("is asked about by host, port and program, is reached after a yes, and is in the ledger", async () => {
    using outside = new TestOutside();
    const pages = await outside.pages("data.example", 80, () => ({ body: "forty-two" }));
    await using on = await bench("staged", outside);
    const asked: WantedNetwork[] = [];
    const ask = async (wanted: WantedNetwork) => {
      asked.push(wanted);
      return "once" as const;
    };
    const { trial } = await on.workbench.try(fetching, { network: { ask } });
    expect(asked).toEqual([{ program: "curl", endpoints: ["data.example:80"], warnings: [], mayStand: true }]);
    expect(pages).toEqual(["GET data.example /a"]);
    expect(trial).toMatchObject({ exitCode: 0, changes: [{ name: "answer" }] });
    expect(trial?.notes.join()).toMatch(/\[reached data\.example:80: \d+ bytes sent/);
    const ledger = await on.repository.read(".orchestration/agent_trace.jsonl");
    expect(ledger).toContain('"reaches":["data.example:80"]');
    expect(ledger).toMatch(/"connections":\[[^\]]*"state":"allowed"/);
  });

  test("is refused where nobody is asked, with what to do, and leaves no record", async () => {
    using outside = new TestOutside();
    const pages = await outside.pages("data.example", 80, () => ({ body: "" }));
    await using on = await bench("staged", outside);
    const { trial } = await on.workbench.try(fetching, { network: { otherwise: (wanted) => `Say ${wanted.join()}.` } });
    expect(trial?.exitCode).not.toBe(0);
    expect(trial?.notes).toEqual([
      "[refused: data.example:80]",
      "[no way to the network: It wanted data.example:80, and nobody could be asked. Say data.example:80.]",
    ]);
    expect([pages, outside.asked]).toEqual([[], []]);
    expect(existsSync(on.repository.path(".orchestration"))).toBe(false);
  });

  test("is let through by what was said with it and by a standing answer, but for a private address and a script", async () => {
    using outside = new TestOutside();
    const pages = await outside.pages("data.example", 80, () => ({ body: "x" }));
    const inner = await outside.pages("inner.example", 80, () => ({ body: "x" }), "10.1.2.3");
    await using on = await bench("staged", outside);
    const allow = ["data.example", "inner.example"].map((host) => ({ host, port: 80 }));
    const exitOf = async (command: string, network: PersonsNetwork) =>
      (await on.workbench.try(command, { network })).trial?.exitCode;
    expect(await exitOf(fetching, { allow })).toBe(0);
    expect(await exitOf("curl -sS --max-time 20 http://inner.example/", { allow })).not.toBe(0);
    expect([pages.length, inner]).toEqual([1, []]);
    expect(await exitOf(fetching, { ask: async () => "workspace" })).toBe(0);
    expect(await exitOf(fetching, {})).toBe(0);
    expect(await exitOf(`sh -c '${fetching}'`, {})).not.toBe(0);
    expect(pages).toHaveLength(3);
  });

  test("is let through by no standing answer while an emergency control is on", async () => {
    using outside = new TestOutside();
    const pages = await outside.pages("data.example", 80, () => ({ body: "x" }));
    await using on = await bench("staged", outside);
    await on.workbench.try(fetching, { network: { ask: async () => "workspace" } });
    expect(pages).toHaveLength(1);
    await using controls = await EmergencyHere.open(on.state.root, { toolVersion: "0", onWarning: () => undefined });
    await controls.switch(
      { control: "stop-all", enabled: true, tool: "", by: "me", reason: "why" },
      on.repository.root,
    );
    const { trial } = await on.workbench.try(fetching, {});
    expect(trial?.exitCode).not.toBe(0);
    expect(pages).toHaveLength(1);
  });

  test("is in the ledger also where the command is stopped at its next question", async () => {
    using outside = new TestOutside();
    await outside.pages("data.example", 80, () => ({ status: 302, headers: { location: "http://evil.example/" } }));
    await outside.pages("evil.example", 80, () => ({ body: "" }), "93.184.216.99");
    await using on = await bench("staged", outside);
    const stopping = new AbortController();
    const ask = async ({ endpoints }: WantedNetwork) => {
      if (endpoints.join() !== "data.example:80") stopping.abort(new Error("enough"));
      return "once" as const;
    };
    const command = "curl -fsSL --max-time 20 http://data.example/";
    await expect(on.workbench.try(command, { network: { ask }, signal: stopping.signal })).rejects.toThrow("enough");
    const ledger = await on.repository.read(".orchestration/agent_trace.jsonl");
    expect(ledger).toMatch(/"connections":\[[^\]]*"state":"allowed"/);
  });

  test("of a neighbour to which an allowed host sends it is a question of its own", async () => {
    using outside = new TestOutside();
    const evil = await outside.pages("evil.example", 80, () => ({ body: "thanks" }), "93.184.216.99");
    await outside.pages("data.example", 80, () => ({ status: 302, headers: { location: "http://evil.example/" } }));
    await using on = await bench("staged", outside);
    const asked: string[] = [];
    const ask = async ({ endpoints }: WantedNetwork) => {
      asked.push(endpoints.join());
      return asked.length === 1 ? ("once" as const) : ("no" as const);
    };
    const { trial } = await on.workbench.try("curl -fsSL --max-time 20 http://data.example/", { network: { ask } });
    expect(asked).toEqual(["data.example:80", "evil.example:80"]);
    expect(evil).toEqual([]);
    expect(trial?.exitCode).not.toBe(0);
  });
});
