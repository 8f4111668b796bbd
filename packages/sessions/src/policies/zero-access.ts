import { type CompiledRules, pathRule } from "@gennai/governance/rules/compile/compile-rules";
import { pathForm } from "@gennai/governance/rules/compile/path-form";
import type { ZeroAccess } from "@gennai/shell/stages/stages";

/** What rule files hide completely. @param root real path of the workspace */
export function zeroAccessOf(rules: CompiledRules, root: string): ZeroAccess {
  return {
    sha256: rules.sha256,
    covers: (path) => pathRule(rules, "zero", [pathForm(path, root)]) !== undefined,
  };
}
