import { secretPath } from "@gennai/governance/command/secret-paths";
import { isZeroAccess } from "@gennai/governance/policies/files/secrets";
import { type CompiledRules, pathRule } from "@gennai/governance/rules/compile/compile-rules";
import { pathForm, rawForm } from "@gennai/governance/rules/compile/path-form";
import type { PathJudge } from "./known-secrets.ts";

/** The rules' verdict on reading a path of the repository. */
export function judgeBy(rules: CompiledRules): PathJudge {
  const { root } = rules.place;
  return (path) => {
    if (secretPath(path) !== undefined) return "refused";
    const forms = [pathForm(`${root}/${path}`, root), rawForm(path, rules.place)];
    if (pathRule(rules, "zero", forms) !== undefined) return "refused";
    return isZeroAccess(path) ? "doubtful" : "allowed";
  };
}
