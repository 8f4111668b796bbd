import { createClient, createRouterTransport } from "@connectrpc/connect";
import { GovernanceService, IntentsMode } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { beforeEach, expect, test, vi } from "vitest";
import { selectIntent } from "#commands/governance-commands";
import type { Workbench } from "#commands/workbench";

/** What a person presses, in order, and everything that happened. */
const window = vi.hoisted(() => ({ answers: [] as string[], happened: [] as string[] }));
vi.mock("vscode", () => ({
  Uri: { joinPath: (_root: unknown, ...names: string[]) => names.join("/"), file: (path: string) => path },
  workspace: { fs: { stat: async () => ({}) } },
  commands: { executeCommand: async () => undefined },
  window: {
    showInformationMessage: async (message: string, ...buttons: string[]) => {
      window.happened.push([message, ...buttons].join(" | "));
      return buttons.length === 0 ? undefined : window.answers.shift();
    },
    showQuickPick: async (items: readonly unknown[]) => {
      window.happened.push("choose");
      return items[0];
    },
    showTextDocument: async (uri: string) => void window.happened.push(`open ${uri}`),
  },
}));

beforeEach(() => {
  window.happened = [];
});

const sha256 = "a".repeat(64);

function workbench(intentsMode: IntentsMode, accepted = false): Workbench {
  const intent = { id: "INT-001", name: "Work", status: "active", selectable: true };
  const transport = createRouterTransport((router) =>
    router.service(GovernanceService, {
      listIntents: () => ({ intents: [intent], sha256, accepted }),
      getGovernanceStatus: () => ({ intentsMode }),
      acceptIntents: (request) => {
        window.happened.push(`accept ${request.sha256 === sha256}`);
        return {};
      },
      selectIntent: ({ intentId }) => {
        window.happened.push(`select ${intentId}`);
        return { intent };
      },
    }),
  );
  return {
    root: "/w",
    session: async () => ({ sessionId: "s" }),
    connect: async () => ({ governance: createClient(GovernanceService, transport) }),
  } as unknown as Workbench;
}

const asks =
  "The file of intents is not accepted as it is now, so none can be selected. | Read It | Accept and Select…";
const asksAgain = "What these intents permit counts once you accept them. | Accept and Select…";
const serves = "This session serves INT-001 Work.";

test.each([
  ["was accepted", [true, []], ["choose", "select INT-001", serves]],
  ["needs no acceptance", [false, [], IntentsMode.AUTO], ["choose", "select INT-001", serves]],
  ["is accepted now", [false, ["Accept and Select…"]], [asks, "accept true", "choose", "select INT-001", serves]],
  [
    "is read first",
    [false, ["Read It", "Accept and Select…"]],
    [asks, "open .orchestration/active_intents.yaml", asksAgain, "accept true", "choose", "select INT-001", serves],
  ],
  ["is not accepted", [false, []], [asks]],
] as const)("where the file of intents %s", async (_name, [accepted, answers, mode = IntentsMode.REQUIRED], wanted) => {
  window.answers = [...answers];
  await selectIntent(workbench(mode, accepted), []);
  expect(window.happened).toEqual(wanted);
});
