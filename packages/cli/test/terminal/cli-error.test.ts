import { ExpectedError } from "@gennai/machine/expected-error";
import { ServiceError } from "@gennai/machine/service-error";
import { SandboxRequired } from "@gennai/stage/sandbox/sandbox";
import { expect, test } from "vitest";
import { asCliError } from "#terminal/cli-error";

class WrongSetting extends ExpectedError {
  readonly code = "wrong_setting";
  readonly isWrongInput = true;
}

const seeMore = ["Set GENNAI_DEBUG=1 and run it again to see where it happened."];

test.each([
  ["a setting, whose message says all", new WrongSetting("x is not a number: set a number"), 2, []],
  ["what is missing on the machine", new SandboxRequired("there is no bwrap", "Install it."), 2, ["Install it."]],
  ["work that failed, with what to do", new ServiceError("not_found", "none", { hint: "Look." }), 1, ["Look."]],
  ["work that failed", new ServiceError("not_found", "none"), 1, []],
  ["what nobody foresaw", new TypeError("x is undefined"), 1, seeMore],
])("%s", (_, error, exitCode, next) => {
  expect(asCliError(error)).toMatchObject({ message: error.message, exitCode, next, cause: error });
});
