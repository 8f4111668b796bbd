import { installLogins, planInstall } from "../plan-install.ts";
import type { LoginReader } from "./login-reader.ts";

export const npmReader: LoginReader = {
  refused: /\bE(?:401|403|NEEDAUTH)\b/,
  logins: async (text, place) =>
    installLogins(text, place).map(({ registry: { host } }) => ({
      host,
      plan: async () => planInstall(text, place, new Set([host])),
    })),
};
