import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { root } from "../repository.mjs";

/**
 * What became of a test file.
 * @typedef {object} FileResult
 * @property {string} path from the root of the checkout, or where an error was that no file had
 * @property {number} passed tests
 * @property {number} skipped
 * @property {readonly string[]} failures each with its file and why; a file that failed outside its tests is one itself
 * @property {number} seconds
 */

/**
 * Notes each test file when it ends, as a line in the file that `GENNAI_TEST_NOTES` names: a run that is killed leaves what it did.
 * @public vitest loads it by its path
 */
export default class NotesReporter {
  /** @param {import("vitest/node").TestModule} module */
  onTestModuleEnd(module) {
    const path = relative(root, module.moduleId).replaceAll("\\", "/");
    const tests = [...module.children.allTests()];
    const outside = [module, ...module.children.allSuites()].flatMap((suite) => suite.errors());
    const failures = tests.flatMap((test) => {
      const { state, errors } = test.result();
      return state === "failed" ? [`${path} > ${test.fullName}\n${reasons(errors)}`] : [];
    });
    if (outside.length > 0 || (failures.length === 0 && module.state() === "failed"))
      failures.push(`${path}\n${reasons(outside)}`);
    /** @type {FileResult} */
    const result = {
      path,
      passed: tests.filter((test) => test.result().state === "passed").length,
      skipped: tests.filter((test) => test.result().state === "skipped").length,
      failures,
      seconds: module.diagnostic().duration / 1000,
    };
    note(result);
  }

  /**
   * Errors outside of any file would be lost for the run that goes on: they count as those of a file.
   * @param {readonly import("vitest/node").TestModule[]} _modules
   * @param {readonly import("vitest/node").SerializedError[]} errors
   */
  onTestRunEnd(_modules, errors) {
    const path = "outside any test file";
    if (errors.length > 0) note({ path, passed: 0, skipped: 0, failures: [`${path}\n${reasons(errors)}`], seconds: 0 });
  }
}

/** @param {FileResult} result */
function note(result) {
  appendFileSync(/** @type {string} */ (process.env["GENNAI_TEST_NOTES"]), `${JSON.stringify(result)}\n`);
}

/** @param {readonly import("vitest/node").SerializedError[]} errors */
function reasons(errors) {
  const texts = errors.map(({ message, stack }) => (stack?.includes(message) ? stack : `${message}\n${stack ?? ""}`));
  return texts.join("\n").replaceAll(/\n +at .*(node_modules|new Promise ).*/g, "");
}
