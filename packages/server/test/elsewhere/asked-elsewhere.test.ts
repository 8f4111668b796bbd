import { createHmac } from "node:crypto";
import { chmod, rm } from "node:fs/promises";
import type { Question } from "@gennai/governance/confirmation";
import { type Limits, noLimits } from "@gennai/governance/limits/limits";
import type { Way } from "@gennai/machine/config/people-file";
import { ServiceError } from "@gennai/machine/service-error";
import { notShown } from "@gennai/protocol/model/governance/question";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, onTestFinished, test, vi } from "vitest";
import { AskedElsewhere } from "#elsewhere/asked-elsewhere";
import { PersonPins } from "#elsewhere/person-pins";
import type { OutgoingMessage } from "#elsewhere/question-message";

const secret = "whsec_c2VjcmV0";
const digest = "a".repeat(64);
const forbidden: Limits = [{ name: "acme", holder: "root", file: "/p.yaml", lines: {}, answers: { remote: false } }];

function questionOf(risk: "low" | "medium" | "high" = "medium"): Question {
  return {
    callId: "c",
    turnId: "t",
    toolName: "Write",
    title: "Allow Write?",
    intentReflection: "",
    actionStatement: "Write token=hunter2 to Makefile",
    impactStatement: "",
    modelClaim: "",
    computed: { risk, paths: ["hidden/path"], rule: "floor/x", reason: "", policySha256: "" },
    actionJson: '{"content":"hunter2"}',
    actionSha256: digest,
    diff: "+hunter2",
    rememberStatement: "",
    offeredScopes: ["once", "turn"],
  };
}

async function scene({
  ways,
  most = "medium",
  times = { after_seconds: 0, wait_minutes: 30 },
}: {
  readonly times?: { readonly after_seconds: number; readonly wait_minutes: number };
  readonly ways?: readonly Way[];
  readonly most?: "low" | "medium";
} = {}) {
  const directory = await temporaryDirectory({ "q.secret": secret });
  await chmod(directory.path("q.secret"), 0o600);
  const pins = new PersonPins(directory.root);
  const pin = await pins.renew("alice");
  const hook: Way = { via: "webhook", url: "https://hooks.example/q", secret_file: directory.path("q.secret") };
  const sent: { readonly way: Way; readonly message: OutgoingMessage }[] = [];
  const [answers, warnings, told] = [[] as unknown[], [] as string[], [] as string[]];
  const at: { limits: Limits; isOver: boolean; sending: Promise<void> | undefined } = {
    limits: noLimits,
    isOver: false,
    sending: undefined,
  };
  const { promise: firstSent, resolve } = Promise.withResolvers<void>();
  const asked = new AskedElsewhere({
    people: {
      url: "https://box.example/",
      ...times,
      most_risk: most,
      people: { alice: [...(ways ?? [hook])] },
    },
    pins,
    limits: async () => at.limits,
    log: {
      debug: () => undefined,
      info: () => undefined,
      warn: (text) => void warnings.push(text),
      error: () => undefined,
    },
    send: async (way, message) => {
      sent.push({ way, message });
      if (sent.length >= (ways ?? [hook]).length) resolve();
      await at.sending;
    },
  });
  const open = (question = questionOf(), attended = false) =>
    asked.ask({
      question,
      requestId: "r",
      workspace: "w",
      maskedStatement: "Write [REDACTED] to Makefile",
      attended,
      tell: (text) => void told.push(text),
      answer: async (said, by) => {
        if (at.isOver) throw new ServiceError("failed_precondition", "over");
        answers.push({ ...said, ...by });
      },
    });
  const codes = () => sent.flatMap(({ message }) => /answer#([\w-]{32})/.exec(message.body)?.[1] ?? []);
  const parts = { directory, pins, pin, asked, sent, answers, warnings, told, at, open, codes, firstSent };
  return { ...parts, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
}

const yes = { answer: "yes", reason: "", actionSha256: digest } as const;

/** Asked, and the code of its link. */
async function linked(on: Awaited<ReturnType<typeof scene>>) {
  const open = on.open();
  await on.firstSent;
  return { open, code: on.codes()[0] ?? "" };
}

test("a link and a PIN answer one question, once, in the person's name", async () => {
  await using on = await scene();
  const { open, code } = await linked(on);
  const token = (await on.asked.enter(code, on.pin)) ?? "";
  expect(on.asked.question(token)).toMatchObject({ requestId: "r", workspace: "w", question: questionOf() });
  expect(await on.asked.answer(token, yes)).toBe(true);
  expect(on.answers).toEqual([
    { answer: "yes", reason: "", person: "alice", way: expect.stringMatching(/^webhook link [0-9a-f]{16}$/) },
  ]);
  // Neither the code nor the token is good again.
  expect([await on.asked.enter(code, on.pin), on.asked.question(token), await on.asked.answer(token, yes)]).toEqual([
    undefined,
    undefined,
    false,
  ]);
  expect(on.answers).toHaveLength(1);
  open[Symbol.dispose]();
});

test("a leaked link is worth nothing without the PIN, and five wrong ones end it", async () => {
  await using on = await scene();
  using open = (await linked(on)).open;
  const [code = ""] = on.codes();
  expect(open).toBeDefined();
  const wrong = on.pin === "00000000" ? "00000001" : "00000000";
  for (let tries = 0; tries < 5; tries += 1) expect(await on.asked.enter(code, wrong)).toBeUndefined();
  expect(await on.asked.enter(code, on.pin)).toBeUndefined();
});

test("many PINs at once are many: the sixth is not tried", async () => {
  await using on = await scene();
  using _open = (await linked(on)).open;
  const [code = ""] = on.codes();
  const wrong = on.pin === "00000000" ? "00000001" : "00000000";
  const tried = await Promise.all([...Array(5).fill(wrong), on.pin].map((pin: string) => on.asked.enter(code, pin)));
  expect(tried).toEqual(Array(6).fill(undefined));
});

test("of two who enter by one link at once, one is in", async () => {
  await using on = await scene();
  using _open = (await linked(on)).open;
  const [code = ""] = on.codes();
  const tokens = await Promise.all([on.asked.enter(code, on.pin), on.asked.enter(code, on.pin)]);
  expect(tokens.filter((token) => token !== undefined)).toHaveLength(1);
});

test("nothing else opens a question: 1,000 guesses, another's PIN, a code as a token, a token as a code", async () => {
  await using on = await scene();
  using _open = (await linked(on)).open;
  const [code = ""] = on.codes();
  const bobs = await on.pins.renew("bob");
  for (let guess = 0; guess < 1_000; guess += 1) {
    expect(await on.asked.enter(`${guess}`.padStart(32, "A"), on.pin)).toBeUndefined();
  }
  if (bobs !== on.pin) expect(await on.asked.enter(code, bobs)).toBeUndefined();
  expect(on.asked.question(code)).toBeUndefined();
  const token = (await on.asked.enter(code, on.pin)) ?? "";
  expect(await on.asked.enter(token, on.pin)).toBeUndefined();
});

test.each<[string, (on: Awaited<ReturnType<typeof scene>>, open: Disposable) => void, object]>([
  ["the question ended", (_on, open) => open[Symbol.dispose](), yes],
  ["somebody answered first", (on) => void (on.at.isOver = true), yes],
  ["the action is another", () => undefined, { ...yes, actionSha256: "b".repeat(64) }],
  ["a policy forbids it since", (on) => void (on.at.limits = forbidden), yes],
])("no answer is taken after: %s", async (_what, happens, said) => {
  await using on = await scene();
  const { open, code } = await linked(on);
  const token = (await on.asked.enter(code, on.pin)) ?? "";
  happens(on, open);
  expect(await on.asked.answer(token, said as typeof yes)).toBe(false);
  expect(on.answers).toEqual([]);
  open[Symbol.dispose]();
});

test.each<[string, "low" | "medium" | "high", "low" | "medium", Limits, boolean]>([
  ["medium", "medium", "medium", noLimits, true],
  ["high", "high", "medium", noLimits, false],
  ["more than the file says", "medium", "low", noLimits, false],
  ["what a policy forbids", "low", "medium", forbidden, false],
])("whether people are asked: %s", async (_what, risk, most, limits, wanted) => {
  await using on = await scene({ most });
  on.at.limits = limits;
  expect((await on.asked.waits(questionOf(risk), { attended: false })) !== undefined).toBe(wanted);
});

test("people are not asked about a change that is not shown as a whole", async () => {
  await using on = await scene();
  const shortened = { ...questionOf(), diff: `+a\n${notShown(2)}` };
  expect(await on.asked.waits(shortened, { attended: false })).toBeUndefined();
});

test("a policy that came after the question stops its messages", async () => {
  await using on = await scene();
  on.at.limits = forbidden;
  using _open = on.open();
  await on.asked.waits(questionOf(), { attended: false });
  expect(on.sent).toEqual([]);
});

test("messages say what is masked, and never the action, its paths or its change", async () => {
  const url = "https://ntfy.example/base/alice-9f3c";
  await using on = await scene({
    ways: [
      { via: "ntfy", url },
      { via: "slack", url_file: "/none" },
      { via: "email", command: ["mail"] },
    ],
  });
  using _open = on.open();
  await on.firstSent;
  for (const { message } of on.sent) {
    expect(message.body).toContain("Write [REDACTED] to Makefile");
    expect(message.body).toMatch(/https:\/\/box\.example\/answer#[\w-]{32}/);
    expect(message.body).not.toMatch(/hunter2|hidden\/path|PIN/);
  }
  const ntfy: unknown = JSON.parse(on.sent[0]?.message.body ?? "");
  // An action that acts by itself would be a yes without a look.
  expect(ntfy).toMatchObject({ topic: "alice-9f3c", actions: [{ action: "view", label: "Review" }] });
  expect(new Set(on.codes()).size).toBe(3);
});

test("a webhook is signed, and told of the end", async () => {
  await using on = await scene();
  const { open } = await linked(on);
  open[Symbol.dispose]();
  await expect.poll(() => on.sent.length).toBe(2);
  for (const { message } of on.sent) {
    const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature } = message.headers;
    const wanted = createHmac("sha256", "secret").update(`${id}.${time}.${message.body}`).digest("base64");
    expect(signature).toBe(`v1,${wanted}`);
  }
  expect(JSON.parse(on.sent[1]?.message.body ?? "")).toEqual({
    type: "gennai.question.closed",
    version: 1,
    id: "r",
    answer: "over",
  });
});

test("the time for an answer begins when people are told", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
  await using on = await scene({ times: { after_seconds: 300, wait_minutes: 1 } });
  const expires = new Date(Date.now() + 360_000).toISOString();
  using _open = on.open(questionOf(), true);
  expect(await on.asked.waits(questionOf(), { attended: true })).toBe(360_000);
  vi.advanceTimersByTime(300_000);
  await on.firstSent;
  expect(JSON.parse(on.sent[0]?.message.body ?? "")).toMatchObject({ expires });
  vi.advanceTimersByTime(59_000);
  const token = (await on.asked.enter(on.codes()[0] ?? "", on.pin)) ?? "";
  expect(on.asked.question(token)).toBeDefined();
  vi.advanceTimersByTime(1_000);
  expect(on.asked.question(token)).toBeUndefined();
});

test("a webhook learns of an end that came while it was told", async () => {
  await using on = await scene();
  const { promise, resolve } = Promise.withResolvers<void>();
  on.at.sending = promise;
  const { open } = await linked(on);
  open[Symbol.dispose]();
  resolve();
  await expect.poll(() => on.sent.length).toBe(2);
  expect(on.sent[1]?.message.body).toContain("gennai.question.closed");
});

test("who has no PIN gets no link", async () => {
  await using on = await scene();
  await rm(on.directory.path("people-pins.json"));
  using _open = on.open();
  await on.firstSent;
  expect(on.codes()).toEqual([]);
});

test("twenty messages an hour, then the log says so", async () => {
  await using on = await scene();
  for (let asked = 0; asked < 25; asked += 1) on.open();
  await expect.poll(() => on.warnings).toEqual([expect.stringContaining("told of no more")]);
  expect(on.sent).toHaveLength(20);
});
