import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describeActions } from "@gennai/cli/commands/plan/plan-text";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { parseStrictJson } from "@gennai/protocol/plan/strict-json";
import { validateRinaOutput } from "@gennai/protocol/plan/validate-rina-output";
import {
  ann,
  command,
  planBench,
  refusalOf,
  seedPlan,
  write,
} from "../../../../packages/sessions/test/plans/plan-fixture.ts";
import { executing, expectInvalid, simple, withApproved } from "../../approved-plan.ts";
import { type Checks, check } from "../../corpus-case.ts";

function digestOf(text: string): string {
  const output = validateRinaOutput(text, { strict: true });
  assert.ok(output.kind === "plan", JSON.stringify(output));
  return output.plan.digest;
}

const sameHash = (...texts: readonly string[]) =>
  check(async () => assert.equal(new Set(texts.map((text) => canonicalJson(parseStrictJson(text)))).size, 1));
const differentHash = (...texts: readonly string[]) =>
  check(async () => assert.equal(new Set(texts.map(digestOf)).size, texts.length));
const invalid = (...texts: readonly string[]) => check(async () => expectInvalid(...texts));
/** The plan with this text for its title. */
const titled = (json: string): string => simple.replace('"Test plan"', json);

/** No other spelling of a digest is the digest. */
const badDigest = (...spellings: readonly ((digest: string) => string)[]) =>
  withApproved(async (bench, plan) => {
    const session = await bench.session();
    for (const spell of spellings) {
      const digest = spell(plan.digest);
      assert.equal(await executing(bench, plan, { digest }), "bad_digest");
      assert.equal(await refusalOf(bench.plans().approve(session, plan.planId, digest, ann)), "bad_digest");
    }
  });

export const approvalHashChecks: Checks = {
  "APH-002": check(async () => {
    const texts = ['{"\ufb33":1,"\u{1f600}":2}', '{"\\ud83d\\ude00":2,"\\ufb33":1}'];
    for (const text of texts) assert.equal(canonicalJson(parseStrictJson(text)), '{"\u{1f600}":2,"\ufb33":1}');
  }),
  "APH-003": sameHash("1.0", "1", "1e0", "0.1e1"),
  "APH-005": invalid(...["1e400", "-1e400", "NaN", "Infinity"].map(titled), '{"kind":"chat","payload":1e400}'),
  "APH-007": invalid(
    '{"kind":"chat","payload":{"risk_level":"low","risk_level":"high"}}',
    simple.replace('"id":"a"', '"id":"a","id":"b"'),
  ),
  "APH-008": invalid(
    '{"kind":"chat","payload":{"\\u0061":1,"a":2}}',
    simple.replace('"id":"a"', '"id":"a","\\u0069d":"a"'),
  ),
  "APH-011": check(async () => {
    const sparse: unknown[] = [];
    sparse[1] = 1;
    for (const value of [undefined, { f: undefined }, { f: () => 1 }, [Symbol("s")], sparse, { toJSON: () => 1 }])
      assert.throws(() => canonicalJson(value));
  }),
  "APH-012": invalid(titled('"\\ud800"'), titled('"\udc00"'), titled('"\\ude00\\ud83d"')),
  "APH-013": differentHash(
    ...["NFC", "NFD"].map((form) => seedPlan([{ id: "a", actions: [write("é.txt".normalize(form), "")] }])),
  ),
  "APH-015": invalid(
    simple.replace('"id":"a"', '"id":"a","approved":true'),
    simple.replace('"path":"a.txt"', '"path":"a.txt","mode":"0777"'),
    seedPlan([{ id: "a", actions: [command("ls")] }], { approvalToken: "x" }),
  ),
  "APH-018": differentHash(
    ...["ab", "ba"].map((order) => seedPlan([...order].map((id) => ({ id, actions: [command(`echo ${id}`)] })))),
  ),
  // Design: the digest is that of the plan's bytes; session, workspace, HEAD and rules are bound by the approval.
  "APH-020": check(async () => {
    await using here = await planBench();
    await using there = await planBench();
    const [plan, other] = [await here.approved(simple), await there.approved(simple)];
    assert.equal(await executing(there, other, { token: plan.token }), "token_unknown");
    assert.equal(await executing(there, plan), "unknown_plan");
    assert.equal(existsSync(there.server.workspace.path("a.txt")), false);
  }),
  "APH-025": withApproved(async (bench, plan) => {
    const session = await bench.session();
    const digest = digestOf(simple.replace("a.txt", "b.txt"));
    assert.equal(await refusalOf(bench.plans().approve(session, plan.planId, digest, ann)), "digest_mismatch");
    assert.equal(await refusalOf(bench.plans().approve(session, "p1", plan.digest, ann)), "unknown_plan");
    assert.equal(await executing(bench, plan, { digest }), "digest_mismatch");
  }),
  "APH-026": badDigest(
    (digest) => digest.toUpperCase(),
    (digest) => `0x${digest}`,
    (digest) => Buffer.from(digest, "hex").toString("base64"),
  ),
  "APH-027": badDigest((digest) => digest.slice(0, 8)),
  "APH-028": invalid(
    titled(`"${"x".repeat(10 * 1024 * 1024)}"`),
    seedPlan(Array.from({ length: 100_000 }, (_, index) => ({ id: `${index}`, actions: [command("ls")] }))),
    seedPlan(Array.from({ length: 201 }, (_, index) => ({ id: `${index}`, actions: [command("ls")] }))),
    titled("[".repeat(10_000) + "]".repeat(10_000)),
  ),
  "APH-030": check(async () => {
    const text = "echo a\u001b[2K\r\u202e\u200b  b ";
    await using bench = await planBench();
    const { planId } = await bench.submit(seedPlan([{ id: "a", actions: [{ ...command(text), cwd: "." }] }]));
    const { plan, actions } = await bench.plans().preview(await bench.session(), planId);
    assert.equal(actions[0]?.command, text);
    assert.ok(plan.planJson.includes(JSON.stringify(text).slice(1, -1)));
    const shown = describeActions(
      actions.map((action) => ({
        ...action,
        command: action.command ?? "",
        cwd: action.cwd ?? "",
        change: undefined,
      })),
      (_style, text) => text,
    );
    assert.ok(shown.includes("echo a\\u{1b}[2K\\u{d}\\u{202e}\\u{200b}  b "), shown);
    assert.match(shown, /\n\s*in \./);
    assert.doesNotMatch(shown, /[\u001b\r\u202e\u200b]/);
  }),
};
