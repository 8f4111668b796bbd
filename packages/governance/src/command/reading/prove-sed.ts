import type { AnalysisReport } from "../analysis-report.ts";
import type { Invocation } from "../invocation.ts";
import { parseOptions } from "../option-spec.ts";
import { literalWord } from "../resolve-word.ts";
import { readOperands } from "./read-operands.ts";
import { sedScript } from "./sed-script.ts";

/** Whether sed provably reads. Reports what its scripts run, read and write, and what it changes in place. */
export function proveSed(invocation: Invocation, report: AnalysisReport): boolean {
  const parsed = parseOptions(
    invocation.words,
    "-n -E -r -s -u -z -e=! -f=@ -l= --quiet --silent --regexp-extended --expression=! --separate --unbuffered --null-data --posix --debug --sandbox",
  );
  const scripts = parsed.values.filter((value) => value.kind === "pattern").map((value) => value.word);
  // `-i ''` of BSD: no copy of the file as it was.
  const operands = parsed.operands.filter(
    (word) => word.literal !== "" || !invocation.words.some(({ literal }) => literal === "-i"),
  );
  if (scripts.length === 0) {
    const first = operands.shift();
    if (first === undefined) return false;
    scripts.push(first);
  }
  let proven = parsed.unknown === undefined && !parsed.values.some((value) => value.kind === "path");
  for (const script of scripts) {
    if (script.literal === undefined) {
      proven = false;
      continue;
    }
    const found = sedScript(script.literal);
    if (found.runs)
      report.danger({
        rule: "floor/hidden-program",
        verdict: "deny",
        reason: "The sed script runs a command.",
        high: true,
      });
    for (const file of found.writes)
      if (!/^\/dev\/std(?:out|err)$/.test(file)) report.mention(file, invocation, "write");
    for (const file of found.reads) report.mention(file, invocation, "read");
    if (found.runs || found.unknown || found.writes.some((file) => !/^\/dev\/std(?:out|err)$/.test(file)))
      proven = false;
  }
  const changes = invocation.words.some((word) => /^(?:-[a-zA-Z]*i|--in-place)/.test(word.literal ?? ""));
  // `-i.bak` keeps the file as it was under another name.
  const suffix = invocation.words.flatMap(
    (word) => /^(?:-[a-zA-Z]*?i|--in-place=)(.+)$/.exec(word.literal ?? "")?.[1] ?? [],
  )[0];
  if (suffix !== undefined)
    for (const { literal } of operands)
      if (literal !== undefined) report.path(literalWord(keptName(literal, suffix)), "write", invocation);
  return readOperands(operands, invocation, report, changes ? "write" : "read") && proven;
}

/** `*` in the suffix stands for the file's name, and a slash in it for another directory. */
function keptName(file: string, suffix: string): string {
  if (!suffix.includes("*")) return `${file}${suffix}`;
  const slash = file.lastIndexOf("/") + 1;
  const name = suffix.replaceAll("*", file.slice(slash));
  return name.includes("/") ? name : `${file.slice(0, slash)}${name}`;
}
