import type { ConfirmationQuestion } from "@gennai/client/bridge/editor";
import { expect, test } from "vitest";
import { ConfirmationDesk } from "#confirmation/confirmation-desk";

const question = (requestId: string): ConfirmationQuestion => ({
  requestId,
  callId: "c",
  title: "Allow Bash?",
  intentReflection: "",
  actionStatement: "",
  impactStatement: "",
  modelClaim: "",
  actionSha256: "",
  actionJson: "{}",
  rememberStatement: "",
  offeredScopes: ["once"],
  deadline: undefined,
  computed: { risk: "high", paths: [], rule: "r", reason: "", policySha256: "" },
});
const open = (desk: ConfirmationDesk) => desk.open.value.map(({ requestId }) => requestId);

test("questions wait in their order, each for its own answer", async () => {
  const desk = new ConfirmationDesk();
  const { signal } = new AbortController();
  const [first, second] = [desk.confirm(question("1"), { signal }), desk.confirm(question("2"), { signal })];
  expect(open(desk)).toEqual(["1", "2"]);
  expect(desk.answer("2", { answer: "no", reason: "not now" })).toBe(true);
  expect(await second).toEqual({ answer: "no", reason: "not now" });
  expect(open(desk)).toEqual(["1"]);
  desk.answer("1", { answer: "yes", scope: "once" });
  expect(await first).toEqual({ answer: "yes", scope: "once" });
  expect(open(desk)).toEqual([]);
  expect(desk.answer("1", { answer: "yes", scope: "once" })).toBe(false);
});

test("a question that was answered elsewhere goes away unanswered", async () => {
  const desk = new ConfirmationDesk();
  const over = new AbortController();
  const asked = desk.confirm(question("1"), { signal: over.signal });
  over.abort(new Error("over"));
  await expect(asked).rejects.toThrow("over");
  expect(open(desk)).toEqual([]);
  await expect(desk.confirm(question("2"), { signal: over.signal })).rejects.toThrow("over");
});

test("asked again, the newer one is answered", async () => {
  const desk = new ConfirmationDesk();
  const { signal } = new AbortController();
  const before = desk.confirm(question("1"), { signal });
  const after = desk.confirm(question("1"), { signal });
  await expect(before).rejects.toThrow("asked again");
  expect(open(desk)).toEqual(["1"]);
  desk.answer("1", { answer: "yes", scope: "once" });
  expect(await after).toEqual({ answer: "yes", scope: "once" });
});
