// Starts a session, sends one prompt, prints what happens, and says yes once to what is asked.
import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import {
  ConfirmationAnswer,
  type ConfirmationRequest,
  ConfirmationScope,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";

const [baseUrl = "", token = "", userInput = ""] = process.argv.slice(2);
const withToken: Interceptor = (next) => (request) => {
  request.header.set("Authorization", `Bearer ${token}`);
  return next(request);
};
const agent = createClient(AgentService, createGrpcWebTransport({ baseUrl, interceptors: [withToken] }));
const print = (line: string) => void process.stdout.write(`${line}\n`);

const { sessionId, workingDir } = await agent.startSession({ interactive: true });
print(`session in ${workingDir}`);
const { branch } = await agent.prepareBranch({ sessionId, task: userInput });
print(`on ${branch}`);
const client = { clientId: crypto.randomUUID(), name: "example", version: "1", capabilities: { confirmation: true } };

for await (const { event } of agent.invoke({ sessionId, userInput, client })) {
  switch (event.case) {
    case "assistantDelta":
      print(`says      ${event.value.text}`);
      break;
    case "toolCall":
      print(`wants     ${event.value.name} ${event.value.argumentsJson}`);
      break;
    case "confirmationRequest":
      await sayYes(event.value);
      break;
    case "toolResult":
      print(`got       ${event.value.error || event.value.output}`);
      break;
    case "status":
      if (event.value.state === InvokeState.COMPLETED) print("done");
      break;
    default: // There are more: docs/reference/events.md has them all.
  }
}

async function sayYes(question: ConfirmationRequest): Promise<void> {
  print(`asked     ${question.actionStatement}: ${question.computed?.reason ?? ""}`);
  const { requestId, actionSha256 } = question;
  const yes = { requestId, actionSha256, answer: ConfirmationAnswer.YES, scope: ConfirmationScope.ONCE };
  await agent.submitClientEvent({
    sessionId,
    clientId: client.clientId,
    event: { case: "confirmationResponse", value: yes },
  });
}
