import type { Question } from "#confirmation";

/** A question about a command, as the gate puts it. */
export function gateQuestion(more: Partial<Question> = {}): Question {
  return {
    callId: "c",
    turnId: "t",
    toolName: "Bash",
    title: "Allow Bash?",
    intentReflection: "",
    actionStatement: "",
    impactStatement: "",
    modelClaim: "",
    computed: { risk: "low", paths: [], rule: "", reason: "", policySha256: "" },
    actionJson: "{}",
    actionSha256: "",
    rememberStatement: "",
    offeredScopes: ["once"],
    ...more,
  };
}
