// @vitest-environment happy-dom
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  CheckPolicyResponseSchema,
  ListRulesResponseSchema,
  RuleKind,
  Verdict,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, test, vi } from "vitest";
import { RulesSection } from "#governance/rules-section.tsx";
import { RulesStore } from "#governance/rules-store";

const rules = [
  { name: "rules/floor/x", kind: RuleKind.COMMAND, text: "rm -rf /", verdict: Verdict.DENY, reason: "never" },
  {
    name: "rules/project/1",
    kind: RuleKind.COMMAND,
    text: "<img src=x>",
    verdict: Verdict.ASK,
    place: ".gennai/rules.yaml:3",
  },
  {
    name: "branch/protected",
    kind: RuleKind.CODE,
    activity: { refused: 2, last: timestampFromMs(Date.UTC(2026, 10, 23)) },
  },
];

function deskOf(answers: Partial<ConstructorParameters<typeof RulesStore>[0]> = {}) {
  const client = {
    listRules: async () => create(ListRulesResponseSchema, { rules, callsLookedAt: 12 }),
    checkPolicy: async ({ argumentsJson = "" }) =>
      create(CheckPolicyResponseSchema, { verdict: Verdict.ALLOW, staged: argumentsJson.includes("touch") }),
    ...answers,
  };
  return new RulesStore(client, "s");
}

async function shown(store: RulesStore, onOpenRule?: (place: string) => void) {
  const root = document.createElement("div");
  const status = { count: 2, text: "", lastViolation: "", problems: [], policySha256: "" };
  await act(() => render(h(RulesSection, { rules: status, managed: [], store, hasSession: true, onOpenRule }), root));
  await act(() => vi.waitFor(() => expect(store.state.value.busy).toBe(false)));
  return root;
}

test("the rules stand in groups, as text, and a place opens its file", async () => {
  const opened: string[] = [];
  const root = await shown(deskOf(), (place) => opened.push(place));
  const list = (label: string) => root.querySelector(`[aria-label="${label}"]`)?.textContent;
  expect(list("Rules that decided lately")).toMatch(/^Rule branch\/protectedrefused 2 · last /);
  expect(list("Rules of your files")).toContain("<img src=x>asks");
  expect(list("Patterns that are built in")).toContain("rm -rf /refuses");
  expect(root.querySelector("img")).toBeNull();
  root.querySelector<HTMLElement>(".rule .link")?.click();
  expect(opened).toEqual([".gennai/rules.yaml:3"]);
});

test("what would become of a command is told, and a verdict that nobody knows is a no", async () => {
  using store = deskOf();
  await store.try("touch a");
  expect(store.state.value.tried).toMatchObject({ command: "touch a", answer: { outcome: "staged" } });
  using strange = deskOf({ checkPolicy: async () => create(CheckPolicyResponseSchema, { verdict: 77 as Verdict }) });
  await strange.try("ls");
  expect(strange.state.value.tried?.answer.outcome).toBe("deny");
});

test("a failure is shown, and what was there stays", async () => {
  const failing = async () => {
    throw new ConnectError("gone", Code.Unavailable);
  };
  using store = deskOf({ checkPolicy: failing });
  await store.load();
  await store.try("ls");
  expect(store.state.value).toMatchObject({ busy: false, tried: undefined, inForce: { callsLookedAt: 12 } });
  expect(store.state.value.problem?.message).toContain("gone");
});
