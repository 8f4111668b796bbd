import { highestRisk, isAtLeast, type Risk } from "@gennai/protocol/model/governance/risk";
import { foldPath } from "../command/words/fold-name.ts";
import type { Effect, NetworkAccess } from "../effect.ts";
import { addressForm } from "../endpoint.ts";
import type { Analysis } from "../tool.ts";
import { controlPath } from "./files/control-paths.ts";

/** The risk of a call, from its effects: what the model says does not matter. */
export function computeRisk(analysis: Analysis): Risk {
  return highestRisk([...analysis.effects.map(riskOf), analysis.risk ?? "low"]);
}

function riskOf(effect: Effect): Risk {
  switch (effect.type) {
    case "read":
    case "list":
    case "search":
    case "propose":
    case "session":
      return "low";
    case "write":
      // The bytes before every write and delete are kept, so it can be taken back.
      if (!effect.path.inside) return "high";
      // A pipeline runs with secrets that the workspace does not even hold.
      if (foldPath(effect.path.relative).slice(0, 2).join("/") === ".github/workflows") return "high";
      return controlPath(effect.path.relative)?.level === "protected" ? "high" : "medium";
    case "exec":
      // Nothing is kept before it is judged.
      return effect.staged === true && isAtLeast(effect.command.risk, "high") ? "medium" : effect.command.risk;
    case "git":
      return effect.what === "control" || effect.what === "unreadable" ? "high" : "medium";
    case "external":
      return effect.trusted && effect.accepted === "yes" ? "medium" : "high";
    case "net":
      // What a login opens belongs to the user, even if it is only read.
      if (effect.login !== undefined) return "high";
      if (effect.wanted !== undefined) return isMetadata(effect.wanted) ? "high" : "medium";
      return effect.listed === true ? "medium" : "high";
  }
}

/** Addresses at which clouds tell a machine its identity, and give it keys. */
const metadata =
  /^169\.254\.|^fe[89ab][0-9a-f]:|^fd00:ec2:|^fd20:ce:|^100\.100\.100\.200$|^168\.63\.129\.16$|^192\.0\.0\.192$|^(?:metadata|instance-data)(?:\.|$)/;

function isMetadata({ host, address }: NonNullable<NetworkAccess["wanted"]>): boolean {
  return [host, address].some((each) => each !== undefined && metadata.test(addressForm(each) ?? each));
}
