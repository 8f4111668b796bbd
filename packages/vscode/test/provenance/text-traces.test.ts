import type { LineTrace } from "@gennai/protocol/model/governance/line-trace";
import { expect, test } from "vitest";
import { TextTraces } from "#provenance/text-traces";

const trace: LineTrace = { trust: { status: "ok", message: "" }, runs: [] };
const shown = (of: object, version: number) => ({ of, version, path: "a.js", text: `version ${version}` });

test("each version of a text is asked about once, and again when something was recorded", async () => {
  const asked: string[] = [];
  const traces = new TextTraces<object>(async ({ text }) => {
    asked.push(text);
    return trace;
  });
  const document = {};
  await Promise.all([traces.of(shown(document, 1)), traces.of(shown(document, 1))]);
  await traces.of(shown(document, 2));
  await traces.of(shown({}, 2));
  traces.forget();
  await traces.of(shown(document, 2));
  expect(asked).toEqual(["version 1", "version 2", "version 2", "version 2"]);
});

test("what failed, and what nobody could be asked, is asked again", async () => {
  const answers: (LineTrace | undefined | Error)[] = [new Error("away"), undefined, trace];
  const traces = new TextTraces<object>(async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const document = {};
  await expect(traces.of(shown(document, 1))).rejects.toThrow("away");
  expect(await traces.of(shown(document, 1))).toBe(undefined);
  expect(await traces.of(shown(document, 1))).toBe(trace);
  expect(await traces.of(shown(document, 1))).toBe(trace);
});
