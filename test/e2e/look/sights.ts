import { connectGovernance } from "@gennai/client/connection/connection";
import { setIntentsMode } from "@gennai/client/governance/intents";
import type { ReplDriver } from "../browser/page/repl-driver.ts";
import type { ServedGennai } from "../process/serve-gennai.ts";

/** Something that people can see in the REPL. */
export interface Sight {
  readonly name: string;
  /** Brings it up, from where the sight before it left off. */
  readonly show: (repl: ReplDriver, gennai: ServedGennai) => Promise<unknown>;
  /** Makes way for the next one. */
  readonly leave?: (repl: ReplDriver) => Promise<unknown>;
}

/**
 * Everything that people can see, in an order in which one session comes by it all; `sightScript` says what the model does.
 * A new panel, card or form is one row more.
 */
export const sights: readonly Sight[] = [
  { name: "welcome", show: (repl) => repl.beginSession() },
  {
    name: "an answer",
    show: async (repl) => {
      await ask(repl, "explain this project", "What I found");
      await unfold(repl, ".thinking-head");
    },
  },
  { name: "tool calls, folded", show: (repl) => ask(repl, "use every tool", "Used them.") },
  { name: "tool calls, unfolded", show: (repl) => unfold(repl, ".tool-head") },
  {
    name: "a question of the gate",
    show: async (repl) => {
      await repl.send("run the formatter");
      await repl.question.getByRole("button", { name: "Wait for me" }).click();
      await repl.question.locator('button[aria-disabled="false"]').first().waitFor();
    },
    leave: async (repl) => {
      // The click that brings the focus back into a window is not an answer.
      await repl.question.getByRole("heading").first().click();
      await repl.answer("no");
      await repl.toNewest();
      await repl.see("The formatter has been dealt with.");
      await repl.idle();
    },
  },
  {
    name: "a question of the model",
    show: async (repl) => {
      await repl.send("which store");
      await repl.root.getByRole("region", { name: "The model asks you" }).waitFor();
    },
    leave: async (repl) => {
      await stop(repl);
      await repl.root.getByRole("region", { name: "The model asks you" }).waitFor({ state: "detached" });
    },
  },
  {
    name: "a running turn, and prompts that wait",
    show: async (repl) => {
      await repl.send("think long");
      await repl.toNewest();
      await repl.see("I begin.");
      await repl.send("and then?");
      await repl.root.getByText("and then?").first().waitFor();
    },
    leave: async (repl) => {
      await repl.root.getByRole("button", { name: "Leave out: and then?" }).click();
      await stop(repl);
    },
  },
  {
    name: "an error",
    show: async (repl) => {
      await repl.send("break");
      await repl.toNewest();
      await repl.root.getByText("Too many requests.").first().waitFor();
      await repl.idle();
    },
  },
  {
    name: "files to mention",
    show: async (repl) => {
      await repl.prompt.pressSequentially("look at @src/a");
      await repl.root.getByRole("option", { name: "src/add.ts" }).waitFor();
    },
    leave: async (repl) => {
      await repl.prompt.press("Escape");
      await repl.prompt.fill("");
    },
  },
  {
    name: "the choice of a model",
    show: (repl) => repl.root.locator('.settings-bar [aria-haspopup="dialog"]').click(),
    leave: closePopover,
  },
  {
    name: "the menu of sessions",
    show: async (repl) => {
      await repl.root.locator('.header [aria-haspopup="dialog"]').click();
      await repl.root.locator(".session").first().waitFor();
    },
    leave: closePopover,
  },
  {
    name: "Review",
    show: async (repl) => {
      await repl.useEditingMode("proposal");
      await ask(repl, "propose a change", "Proposed.");
      await repl.openPanel("Review");
      await repl.root.locator("article.hunk").first().getByRole("button", { name: "Keep" }).click();
    },
  },
  {
    name: "Review, a hunk being edited",
    show: async ({ root }) => {
      const hunk = root.locator("article.hunk").first();
      await hunk.getByRole("button", { name: "Edit", exact: true }).click();
      await hunk.getByRole("textbox").waitFor();
    },
    leave: async (repl) => {
      await repl.root.locator("article.hunk").first().getByRole("button", { name: "Cancel" }).click();
      await repl.openPanel("Chat");
      await repl.useEditingMode("branch");
    },
  },
  {
    name: "Plan",
    show: async (repl) => {
      await repl.openPanel("Plan");
      const panel = repl.root.getByRole("region", { name: "Plan" });
      await panel.getByRole("textbox", { name: "What is to be planned" }).fill("create one.txt with x");
      await panel.getByRole("button", { name: "Plan", exact: true }).click();
      await panel.locator(".plan-approval").waitFor();
    },
  },
  {
    name: "Attempts, asking",
    show: async (repl, gennai) => {
      // Decides between them, and asks before; earlier it would ask after every change.
      await gennai.workspace.write(".gennai/config.yaml", "check: test -f src/turned.ts && echo the sum is there\n");
      await repl.openPanel("Chat");
      await repl.send("/attempts 2 take the sum the other way round");
      await attemptsOf(repl)
        .getByRole("listitem", { name: /^Attempt 1: / })
        .waitFor(attemptPatience);
      await repl.question.locator('button[aria-disabled="false"]').first().waitFor(attemptPatience);
    },
    leave: async (repl) => {
      const allow = repl.question.locator('.confirmation-answer[aria-disabled="false"]').first();
      while (!(await attemptsOf(repl).getByText("Attempt 1 is suggested").isVisible())) {
        if (await allow.isVisible()) await allow.click();
      }
    },
  },
  {
    name: "Attempts, ended",
    show: async (repl) => {
      const first = attemptsOf(repl).getByRole("listitem", { name: "Attempt 1: Check passed" });
      await first
        .getByRole("button", { name: /turned\.ts/ })
        .first()
        .click();
      await first.getByRole("button", { name: "What the check printed" }).click();
      await first.getByText("the sum is there").waitFor();
    },
  },
  { name: "Todos", show: (repl) => openPanel(repl, "Todos", "Tidy it up") },
  { name: "Checkpoints", show: (repl) => openPanel(repl, "Checkpoints", /Restore to before|No command|Nothing/) },
  {
    name: "Timeline",
    show: async (repl) => {
      await openPanel(repl, "Timeline", "Not verified yet.");
      await repl.root.locator(".record-line").first().click();
      await repl.root.getByRole("button", { name: "Verify" }).click();
      await repl.root.getByText("Not verified yet.").waitFor({ state: "detached" });
    },
  },
  {
    name: "Governance, with intents to accept",
    show: async (repl, gennai) => {
      await gennai.workspace.write(".orchestration/active_intents.yaml", intents);
      const { signal } = new AbortController();
      const { sessions } = await gennai.client.listSessions({});
      const governance = connectGovernance({ baseUrl: gennai.url, token: gennai.token });
      for (const { sessionId } of sessions) await setIntentsMode(governance, sessionId, "required", { signal });
      await openPanel(repl, "Governance", "Keep the sum right");
      await repl.root.getByText("Scope and constraints").first().click();
      await acceptIntents(repl).waitFor();
    },
    leave: async (repl) => {
      await acceptIntents(repl).click();
      await acceptIntents(repl).waitFor({ state: "detached" });
    },
  },
  {
    name: "Governance, with an emergency",
    show: async (repl) => {
      await openPanel(repl, "Governance", "Emergency controls");
      await repl.root.getByRole("switch", { name: "Read-only" }).click();
      await repl.root.getByText("Emergency control:").waitFor();
    },
  },
  { name: "System prompt", show: (repl) => openPanel(repl, "System prompt", "Gennai") },
  { name: "the conversation at its end", show: (repl) => repl.openPanel("Chat") },
  {
    name: "a server that is gone",
    show: async (repl, gennai) => {
      await gennai[Symbol.asyncDispose]();
      await repl.root.getByText("No connection to the server").waitFor();
    },
  },
];

/** Sends it, and resolves when the turn has ended with the answer. */
async function ask(repl: ReplDriver, prompt: string, answer: string): Promise<void> {
  await repl.send(prompt);
  await repl.toNewest();
  await repl.see(answer);
  await repl.idle();
}

/** Copies are made before anything is seen of it. */
const attemptPatience = { timeout: 60_000 };

const intents = `active_intents:
  - id: INT-001
    name: Keep the sum right
    status: active
    owned_scope: ["src/**"]
    constraints: [Nothing but the sum changes]
`;

function acceptIntents({ root }: ReplDriver) {
  return root.getByRole("button", { name: "Accept these intents" });
}

function attemptsOf({ root }: ReplDriver) {
  return root.getByRole("region", { name: "Attempts" });
}

async function stop(repl: ReplDriver): Promise<void> {
  await repl.root.getByRole("button", { name: "Stop", exact: true }).click();
  await repl.idle();
}

async function openPanel(repl: ReplDriver, name: string, content: string | RegExp): Promise<void> {
  await repl.openPanel(name);
  await repl.root.locator("#panel").getByText(content).first().waitFor();
}

async function closePopover(repl: ReplDriver): Promise<void> {
  await repl.root.locator(".popover").press("Escape");
  await repl.root.locator(".popover").waitFor({ state: "detached" });
}

/** Opens every fold of a kind that is drawn. */
async function unfold({ root }: ReplDriver, head: string): Promise<void> {
  const folded = root.locator(`${head}[aria-expanded="false"]`);
  while ((await folded.count()) > 0) await folded.first().click();
}
