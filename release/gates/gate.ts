import { createHash } from "node:crypto";
import { StepFailed } from "./steps.ts";

/** What a release must pass. */
export interface Gate {
  /** One of `requiredGates` in verify.mjs. */
  readonly name: string;
  /** What holds when it passes. */
  readonly title: string;
  readonly timeoutMs: number;
  /** Rejects when it could not look. Stops what it started when `signal` aborts. */
  run(context: GateContext, options: { readonly signal: AbortSignal }): Promise<Findings>;
}

export interface GateContext {
  /** Absolute path of the checkout. */
  readonly root: string;
  /** Absolute path of the release. */
  readonly directory: string;
  readonly version: string;
  /** SPKI PEM that the release must be signed with. */
  readonly publicKey: string;
  /** An empty directory that is removed afterwards. */
  readonly scratch: string;
  /** Takes how to say what the gate is doing now: while it runs, and when it does not end. */
  readonly doing: (now: () => string) => void;
}

export interface Findings {
  readonly passed: number;
  readonly failed: number;
  /** What should have been looked at and was not. */
  readonly skipped: number;
  /** What a person wants to see of it, a line each. */
  readonly evidence: readonly string[];
  /** All that was written. */
  readonly output: string;
}

/** As written in the record. */
export interface GateResult {
  readonly name: string;
  readonly title: string;
  readonly result: "passed" | "failed";
  /** Empty when it passed. */
  readonly reason: string;
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number };
  readonly evidence: readonly string[];
  readonly output_sha256: string;
  /** RFC 3339. */
  readonly began: string;
  readonly ended: string;
}

export interface GateRun {
  readonly print: (line: string) => void;
  /** Stops the gate before its time is over. */
  readonly signal: AbortSignal;
  readonly tellEveryMs?: number;
}

/**
 * Runs a gate and says the result; never rejects. Whatever is not a clear pass is a failure: a gate that threw, that took too
 * long, that looked at nothing, that left something out, or that shows no evidence. Meanwhile it says what the gate is doing.
 */
export async function runGate(
  gate: Gate,
  context: Omit<GateContext, "doing">,
  { print, signal, tellEveryMs = 60_000 }: GateRun,
): Promise<{ readonly result: GateResult; readonly output: string }> {
  const began = new Date().toISOString();
  let now = () => "";
  const seconds = () => Math.round((Date.now() - Date.parse(began)) / 1000);
  const telling = setInterval(
    () => print(`    ${seconds()} of at most ${gate.timeoutMs / 1000} s: ${now()}`),
    tellEveryMs,
  );
  const doing = (what: () => string) => void (now = what);
  const { findings, trouble } = await findingsOf(gate, { ...context, doing }, { signal, now: () => now() });
  clearInterval(telling);
  const { passed, failed, skipped, evidence, output } = findings;
  const reason = trouble ?? reasonAgainst(findings);
  const result: GateResult = {
    name: gate.name,
    title: gate.title,
    result: reason === undefined ? "passed" : "failed",
    reason: reason ?? "",
    counts: { passed, failed, skipped },
    evidence,
    output_sha256: createHash("sha256").update(output).digest("hex"),
    began,
    ended: new Date().toISOString(),
  };
  return { result, output };
}

function reasonAgainst({ passed, failed, skipped, evidence }: Findings): string | undefined {
  if (failed > 0) return `${failed} failed.`;
  if (skipped > 0) return `${skipped} were left out.`;
  // So written that a missing or invalid number does not pass.
  if (!(passed > 0)) return "It looked at nothing.";
  return evidence.length === 0 ? "It shows no evidence." : undefined;
}

const nothing: Findings = { passed: 0, failed: 0, skipped: 0, evidence: [], output: "" };
/** Milliseconds that a gate gets to clean up once its time is over. */
const grace = 5_000;

async function findingsOf(
  gate: Gate,
  context: GateContext,
  { signal, now }: { readonly signal: AbortSignal; readonly now: () => string },
): Promise<{ readonly findings: Findings; readonly trouble?: string }> {
  const end = AbortSignal.any([signal, AbortSignal.timeout(gate.timeoutMs)]);
  const tooLate = Promise.withResolvers<Findings>();
  end.addEventListener("abort", () => setTimeout(() => tooLate.resolve(nothing), grace));
  const run = async () => gate.run(context, { signal: end });
  const found = await Promise.race([run(), tooLate.promise]).then((findings) => ({ findings }), brokenBy);
  if (!end.aborted) return found;
  const why = signal.aborted ? "It was stopped" : `It did not end within ${gate.timeoutMs / 1000} s`;
  const what = now();
  return { findings: found.findings, trouble: what === "" ? `${why}.` : `${why}. It was doing this: ${what}` };
}

/** What is known of a gate that threw. */
function brokenBy(error: unknown): { readonly findings: Findings; readonly trouble: string } {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof StepFailed) {
    const { output } = error.findings;
    return { findings: { ...error.findings, output: `${output}\n${text}` }, trouble: text };
  }
  const output = error instanceof Error ? (error.stack ?? text) : text;
  return { findings: { ...nothing, output }, trouble: `It broke: ${text}` };
}
