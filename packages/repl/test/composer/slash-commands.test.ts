// @vitest-environment happy-dom
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { builtInCommands, commandUsage, slashCommands } from "@gennai/client/commands/slash-commands";
import { BranchChange, GitState } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { describe, expect, it, vi } from "vitest";
import { slashCompletion } from "#composer/composer.tsx";
import { runSlash } from "#composer/run-slash";
import { slashPlace } from "#composer/slash-place";
import { appOn, OneSession, opened, progress } from "../control/one-session.ts";

async function app() {
  const server = new OneSession();
  const settings: unknown[] = [];
  const compacted = vi.fn<() => void>();
  Object.assign(server.methods, {
    listScenarios: () => ({
      scenarios: [
        { name: "CODE", description: "Codes", tools: "" },
        { name: "PLAN", description: "Plans", tools: "" },
        { name: "LOOK", description: "Looks at a change", tools: "" },
      ],
      skills: [{ name: "release-notes", description: "How notes are written", ofRepository: true }],
    }),
    setSettings: (request: { readonly settings: unknown }) => {
      settings.push(request.settings);
      return request;
    },
    compactSession: () => {
      compacted();
      return { compacted: true, tokensBefore: 9000, tokensAfter: 800, keptMessages: 4 };
    },
  });
  const { control } = appOn(server);
  await opened(control);
  await control.sessions.listScenarios();
  return { control, server, settings, compacted };
}

const nobody = new AbortController().signal;

describe("slash commands", () => {
  it("are those of the table, then the session's scenarios and skills; a name that is taken is left out", async () => {
    const { control } = await app();
    expect(slashCommands(slashPlace(control)).map(({ name }) => name)).toEqual([
      ...["plan", "proposal", "branch", "mode", "attempts", "model", "scenario", "again", "undo", "review"],
      ...["checkpoints", "todos", "background", "compact", "new", "fork", "resume", "intent", "rules", "read-only"],
      ...["help", "code", "look", "release-notes"],
    ]);
  });

  it("stand in the documentation, each with what it does", () => {
    const page = readFileSync(join(import.meta.dirname, "../../../../docs/repl.md"), "utf8");
    for (const command of builtInCommands) {
      const usage = commandUsage(command).replaceAll("|", "\\|");
      const row = page.split("\n").find((line) => line.startsWith(`| \`${usage}\``));
      expect(row?.split(/(?<!\\)\|/)[2]?.trim(), command.name).toBe(command.description);
    }
  });

  it("a prompt without one is none", async () => {
    const { control } = await app();
    expect(runSlash(control, "look at /etc/hosts")).toBeUndefined();
  });

  it("an unknown one is a prompt like any other, and said so", async () => {
    const { control } = await app();
    expect(await runSlash(control, "/nothing here")).toEqual({
      type: "unknown",
      note: "There is no command /nothing: it was sent as it is. /help lists them.",
    });
  });

  it("/look sends the rest in that scenario, once", async () => {
    const { control, server } = await app();
    control.turns.attach("Selected in the terminal", "FAIL");
    expect(await runSlash(control, "/Look the last change")).toEqual({ type: "ran", note: undefined });
    await progress(control, "running");
    expect(server.started[0]).toMatchObject({
      scenario: "LOOK",
      userInput: "the last change\n\n~~~ Selected in the terminal\nFAIL\n~~~",
    });
    expect(control.turns.attachments.list.value).toEqual([]);
    expect(control.scenario.value).toBe("");
  });

  it("/proposal and /branch change the mode, and send what follows", async () => {
    const { control, server } = await app();
    expect(await runSlash(control, "/proposal")).toEqual({ type: "ran", note: "Proposal Mode from now on." });
    expect(control.choice.value.editingMode).toBe("proposal");
    expect(await runSlash(control, "/branch do it")).toEqual({ type: "ran", note: undefined });
    expect(control.choice.value.editingMode).toBe("branch");
    await progress(control, "running");
    expect(server.started[0]?.userInput).toBe("do it");
  });

  it("/model NAME is for the session and those that come", async () => {
    const { control } = await app();
    expect(await runSlash(control, "/model big-one")).toEqual({
      type: "ran",
      note: "The model is big-one from now on.",
    });
    expect(control.choice.value.model).toBe("big-one");
  });

  it("/compact says what happened to the conversation", async () => {
    const { control, compacted } = await app();
    expect(await runSlash(control, "/compact")).toMatchObject({ note: "There is nothing to shorten yet." });
    await control.begun();
    expect(await runSlash(control, "/compact")).toMatchObject({
      note: "About 9000 tokens before, 800 now; the last 4 messages stay as they are.",
    });
    expect(compacted).toHaveBeenCalledOnce();
  });

  it("/undo has nothing to take back, and says so", async () => {
    const { control } = await app();
    expect(await runSlash(control, "/undo")).toMatchObject({ note: "This session has nothing to undo." });
  });

  it.each([
    ["yes", "begins once there is a branch", ["add a test"]],
    ["no", "is only there to be read", []],
  ] as const)("/plan on a protected branch: after a %s it %s", async (said, _words, wanted) => {
    const server = new OneSession();
    const prepared: string[] = [];
    Object.assign(server.methods, {
      getWorkspaceState: () => ({ git: GitState.READY, branch: "main", commit: "c", protectedBy: "main" }),
      prepareBranch: ({ task }: { readonly task: string }) => {
        prepared.push(task);
        return { branch: "ai-agent/add-a-test", change: BranchChange.CREATED };
      },
    });
    const { control } = appOn(server);
    await opened(control);
    await runSlash(control, "/plan add a test");
    const asked = () => control.confirmations.open.value[0];
    await vi.waitFor(() => expect(asked()?.computed.reason).toContain("begins the branch ai-agent/add-a-test"));
    expect(server.started).toEqual([]);
    const reply =
      said === "yes" ? ({ answer: "yes", scope: "once" } as const) : ({ answer: "no", reason: "" } as const);
    control.confirmations.answer(asked()?.requestId ?? "", reply);
    await progress(control, "running");
    expect(prepared).toEqual(wanted);
    expect(server.started[0]).toMatchObject({ scenario: "PLAN", userInput: "add a test" });
  });

  it("/plan alone shows the plans, with a goal it has a plan written", async () => {
    const { control, server } = await app();
    await runSlash(control, "/plan");
    expect(control.panel.value).toBe("plan");
    expect(server.created).not.toHaveBeenCalled();
    await runSlash(control, "/plan add a test");
    await vi.waitFor(() => expect(server.started[0]).toMatchObject({ scenario: "PLAN", userInput: "add a test" }));
  });

  it("one that fails says why, and is given back", async () => {
    const { control } = await app();
    vi.spyOn(control, "begun").mockRejectedValue(new Error("No server answers."));
    expect(await runSlash(control, "/plan x")).toEqual({ type: "failed", note: "/plan failed: No server answers." });
  });

  it("are completed where the prompt begins, and nowhere else", async () => {
    const { control } = await app();
    const complete = slashCompletion(control);
    const names = async (text: string, caret = text.length) =>
      (await complete(text, caret, nobody))?.map(({ name, done }) => [name, done.text]);
    expect(await names("/pr")).toEqual([["/proposal [PROMPT]", "/proposal "]]);
    expect(await names("/re more", 3)).toEqual([
      ["/review", "/review more"],
      ["/resume [ID]", "/resume more"],
      ["/read-only on | off REASON", "/read-only more"],
      ["/release-notes [PROMPT]", "/release-notes more"],
    ]);
    expect(await names("/undo")).toEqual([["/undo", "/undo"]]);
    expect(await names("see /un")).toBeUndefined();
    expect(await names("/plan x")).toBeUndefined();
  });
});
