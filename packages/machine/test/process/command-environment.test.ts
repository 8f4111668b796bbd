import { expect, test } from "vitest";
import { commandEnvironment, variablesNotPassed } from "#process/command-environment";

test("variables that the user named are passed, unless they look like logins; commands are told which are missing", () => {
  const own = { PYTHONPATH: "/srv/lib", DATABASE_URL: "postgres://me:pw@db/x", DEPLOY_TOKEN: "x", OTHER: "y" };
  const named = ["PYTHONPATH", "DATABASE_URL", "DEPLOY_TOKEN", "NOT_SET"];
  expect(commandEnvironment(own, named)).toMatchObject({
    PYTHONPATH: "/srv/lib",
    [variablesNotPassed]: "DATABASE_URL DEPLOY_TOKEN",
  });
  expect(Object.keys(commandEnvironment(own, ["PYTHONPATH"]))).not.toContain(variablesNotPassed);
});
