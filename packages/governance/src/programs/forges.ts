import type { Program } from "./program.ts";
import { signsIn } from "./shared-rows.ts";

/** Releases and runs on a forge. */
const deploys: Program["deploys"] = {
  anyOperand: /^(?:release|workflow|run|deployment)$/,
  unless: /^(?:list|ls|view|watch|download|status|verify|verify-asset)$/,
};

export const forges: readonly Program[] = [
  {
    names: "gh",
    logins: ["gh"],
    hosts: "api.github.com github.com",
    dangers: [signsIn],
    deploys,
    verbs: {
      "api cache gist issue label pr project release repo ruleset run search secret status variable workflow": {
        reaches: true,
        login: true,
      },
      // These show or change the login itself, or start a browser.
      "auth browse": { reaches: true },
    },
  },
  { names: "glab", otherwise: {}, dangers: [signsIn], deploys },
  { names: "hub tea", deploys },
];
