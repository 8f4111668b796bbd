/** What the model says for a plan of one step, which writes a file and looks for a word in it. */
export function writePlan(path: string, content: string, word: string, title = `Create ${path}`): string {
  const step = {
    id: "s1",
    title: `create ${path}`,
    intent: `You asked to create ${path}.`,
    description: `create ${path}`,
    tool: "Write",
    risk_level: "medium",
    requires_confirmation: true,
    actions: [{ type: "file_write", path, content }],
    verification_plan: [{ type: "command", command: `grep -nF -e ${word} ${path}` }],
  };
  const risks = [{ level: "low", text: "A file of this name would be written over." }];
  const summary = `Creates ${path} and looks whether it is there.`;
  return JSON.stringify({ kind: "plan", payload: { id: "plan-1", title, summary, risks, steps: [step] } });
}
