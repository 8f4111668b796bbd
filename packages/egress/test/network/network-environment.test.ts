import { expect, test } from "vitest";
import { networkEnvironment } from "#network/network-environment";

test.each([true, false])("with a way out %s, nothing asks for more than the command is about", (hasWayOut) => {
  expect(networkEnvironment("http://127.0.0.1:1", { hasWayOut })).toMatchObject({
    npm_config_audit: "false",
    npm_config_update_notifier: "false",
    pnpm_config_update_notifier: "false",
  });
});
