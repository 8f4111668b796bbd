import type { ConfirmationQuestion } from "#connection/editor";

/** A question about a command, as a client shows it. */
export function askedQuestion(more: Partial<ConfirmationQuestion> = {}): ConfirmationQuestion {
  return {
    requestId: "q",
    callId: "c",
    title: "Allow Bash?",
    intentReflection: "",
    actionStatement: "",
    impactStatement: "",
    modelClaim: "",
    computed: { risk: "low", paths: [], rule: "", reason: "", policySha256: "" },
    actionSha256: "",
    actionJson: "{}",
    rememberStatement: "",
    offeredScopes: ["once"],
    deadline: undefined,
    ...more,
  };
}
