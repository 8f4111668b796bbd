import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { AgentService, file_gennai_agent_v1_agent as agentFile } from "#gen/gennai/agent/v1/agent_pb";
import { file_gennai_agent_v1_event as eventFile } from "#gen/gennai/agent/v1/event_pb";

/**
 * The original Gennai protocol, as a table: names, numbers and types that never change. Enum values got the prefix that
 * their package needs; their numbers stayed.
 */
const originalMessages: Readonly<Record<string, string>> = {
  Settings:
    "Backend backend=1; string model=2; string base_url=3; int32 max_tokens=4; int32 max_iterations=5; string working_dir=6",
  Capabilities: "bool tool_calling=1; bool thinking=2; bool vision=3; bool structured_output=4",
  StartSessionRequest: "Settings settings=1; bool interactive=2",
  StartSessionResponse: "string session_id=1; Capabilities capabilities=2",
  ClearSessionRequest: "string session_id=1",
  ListScenariosResponse: "repeated Scenario scenarios=1",
  Scenario: "string name=1; string description=2; string tools=3",
  InvokeRequest:
    "string session_id=1; string scenario=2; string user_input=3; bool enable_thinking=4; repeated bytes images=5",
  InvokeEvent:
    "StatusEvent status=1; ThinkingDelta thinking_delta=2; AssistantDelta assistant_delta=3; ToolCall tool_call=4; ToolResult tool_result=5; TokenUsage usage=6; FinalMessage final=7; string warning=8; string error=9; RequestFileRead request_file_read=10; ExecuteCommandRequest execute_command_request=11",
  StatusEvent: "InvokeState state=1; int32 iteration=2; string tool_name=3",
  ThinkingDelta: "string text=1",
  AssistantDelta: "string text=1",
  ToolCall: "string id=1; string name=2; string arguments_json=3",
  ToolResult: "string id=1; string output=2; string error=3; bool truncated=4",
  TokenUsage:
    "int32 input_tokens=1; int32 output_tokens=2; int32 total_tokens=3; string model_id=4; int32 max_context_tokens=5",
  FinalMessage: "string text=1; string thinking=2; TokenUsage usage=3",
  RequestFileRead: "string request_id=1; string path=2; int32 offset=3; int32 limit=4; string reason=5",
  ExecuteCommandRequest: "string request_id=1; string command=2; string cwd=3; string terminal_name=4; bool reveal=5",
  TodoItem:
    "string id=1; string content=2; TodoStatus status=3; TodoPriority priority=4; string created=5; string updated=6",
  GetTodosRequest: "string session_id=1",
  GetTodosResponse: "repeated TodoItem items=1",
  WriteTodosRequest: "string session_id=1; repeated TodoItem items=2",
  WriteTodosResponse: "repeated TodoItem items=1",
  GetConversationPreviewRequest: "string session_id=1; int32 max_messages=2",
  GetConversationPreviewResponse: "string preview=1",
  SetSettingsRequest: "string session_id=1; Settings settings=2",
  ClientEvent:
    "string session_id=1; FileReadResponse file_read_response=2; CommandDispatchResponse command_dispatch_response=3",
  FileReadResponse: "string request_id=1; string path=2; string content=3; string encoding=4; string error=5",
  CommandDispatchResponse: "string request_id=1; string terminal_id=2; string status=3; string error=4",
  SubmitClientEventResponse: "string request_id=1; string status=2; string error=3",
};

const originalEnums: Readonly<Record<string, readonly string[]>> = {
  Backend: ["UNSPECIFIED", "OLLAMA", "ANTHROPIC", "OPENAI", "GEMINI"],
  InvokeState: ["UNSPECIFIED", "STARTED", "THINKING", "RUN_TOOL", "WAITING_TOOL_RESULT", "COMPLETED", "ERROR"],
  TodoStatus: ["UNSPECIFIED", "PENDING", "IN_PROGRESS", "COMPLETED"],
  TodoPriority: ["UNSPECIFIED", "LOW", "MEDIUM", "HIGH"],
};

const originalMethods = [
  ...["StartSession", "ClearSession", "ListScenarios", "Invoke", "SubmitClientEvent", "GetTodos", "WriteTodos"],
  ...["GetConversationPreview", "SetSettings"],
];

const messages = new Map([...agentFile.messages, ...eventFile.messages].map((message) => [message.name, message]));
const enums = new Map([...agentFile.enums, ...eventFile.enums].map((each) => [each.name, each]));

describe("the original protocol", () => {
  it.each(Object.entries(originalMessages))("%s keeps its fields", (name, fields) => {
    const message = messages.get(name);
    const originals = fields.split("; ");
    expect(message && fieldsBelow(message, originals)).toEqual(originals);
  });

  it.each(Object.entries(originalEnums))("%s keeps its values", (name, values) => {
    const found = enums.get(name)?.values.slice(0, values.length);
    expect(found?.map((value) => [value.localName, value.number])).toEqual(
      values.map((value, number) => [value, number]),
    );
  });

  it("keeps its methods, and only events stream", () => {
    const methods = new Map(AgentService.methods.map((method) => [method.name, method.methodKind]));
    for (const name of originalMethods)
      expect(methods.get(name)).toBe(name === "Invoke" ? "server_streaming" : "unary");
    expect([...methods].filter(([, kind]) => kind !== "unary").map(([name]) => name)).toEqual(["Invoke", "Subscribe"]);
  });
});

/** The message's fields that carry one of the original numbers, in the table's own words. */
function fieldsBelow(message: DescMessage, originals: readonly string[]): readonly string[] {
  const numbers = new Set(originals.map((field) => Number(field.split("=")[1])));
  return message.fields
    .filter((field) => numbers.has(field.number))
    .map((field) => `${typeOf(field)} ${field.name}=${field.number}`);
}

function typeOf(field: DescField): string {
  switch (field.fieldKind) {
    case "message":
      return field.message.name;
    case "enum":
      return field.enum.name;
    case "scalar":
      return ScalarType[field.scalar].toLowerCase();
    case "list":
      return `repeated ${field.listKind === "message" ? field.message.name : field.listKind === "scalar" ? ScalarType[field.scalar].toLowerCase() : field.enum.name}`;
    case "map":
      return "map";
  }
}
