import { ModelError } from "@gennai/agent/model";
import { publicBackends } from "@gennai/protocol/model/session/backend";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";

type Choice = Pick<SessionSettings, "backend" | "model" | "baseUrl">;

/**
 * Throws `ModelError` for a model that only the operator may choose: an address of a user's choice would get the server's
 * keys and reach what only the server reaches, and a script is a file of the server. The operator's own choice is for all.
 */
export function assertUsersModel(choice: Choice, operators: Choice): void {
  const isOperators = choice.backend === operators.backend && choice.baseUrl === operators.baseUrl;
  if (choice.backend === "scripted" && isOperators && choice.model === operators.model) return;
  if (choice.backend !== "scripted" && isOperators) return;
  if (publicBackends.includes(choice.backend) && choice.baseUrl === "") return;
  throw new ModelError("not_configured", "This model is not for the users of this server to choose.", {
    hint: `Leave base_url empty and choose one of ${publicBackends.join(", ")}; or leave the model to the server.`,
  });
}
