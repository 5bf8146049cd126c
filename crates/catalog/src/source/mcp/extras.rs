//! Resources and prompts as tools, since a script has no other way to them: `list_resources`, `read_resource`, `list_prompts`,
//! `get_prompt`.
//!
//! They are there when the server has what they reach, and a tool of the server's own always comes first. They only read, and
//! may be repeated.

use std::sync::Arc;

use rmcp::model::{
    ClientRequest, GetPromptRequestParams, InputResponses, PaginatedRequestParams, ReadResourceRequestParams, Request,
    RequestOptionalParam, ServerCapabilities,
};
use serde_json::{Map, Value, json};

use crate::tool::{Effect, Replay, Tool};

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extra {
    ListResources,
    ReadResource,
    ListPrompts,
    GetPrompt,
}

/// A kind of entries: the key that they are under, and the request for a page of them.
pub(super) type Entries = (&'static str, fn(PaginatedRequestParams) -> ClientRequest);

/// How it is asked for.
pub(super) enum Asking {
    /// Every page of the entries under this key, and of those under the second where there are any.
    Lists(&'static [Entries]),
    /// One request, whose result has the value under this key; where the key is empty the value is the whole.
    One(&'static str, Box<dyn Fn(Option<InputResponses>, Option<String>) -> ClientRequest + Send + Sync>),
}

const RESOURCES: &[Entries] = &[
    ("resources", |params| ClientRequest::ListResourcesRequest(RequestOptionalParam::with_param(params))),
    ("resourceTemplates", |params| {
        ClientRequest::ListResourceTemplatesRequest(RequestOptionalParam::with_param(params))
    }),
];
const PROMPTS: &[Entries] =
    &[("prompts", |params| ClientRequest::ListPromptsRequest(RequestOptionalParam::with_param(params)))];

impl Extra {
    const ALL: [Self; 4] = [Self::ListResources, Self::ReadResource, Self::ListPrompts, Self::GetPrompt];

    fn name(self) -> &'static str {
        match self {
            Self::ListResources => "list_resources",
            Self::ReadResource => "read_resource",
            Self::ListPrompts => "list_prompts",
            Self::GetPrompt => "get_prompt",
        }
    }

    fn is_offered(self, capabilities: &ServerCapabilities) -> bool {
        match self {
            Self::ListResources | Self::ReadResource => capabilities.resources.is_some(),
            Self::ListPrompts | Self::GetPrompt => capabilities.prompts.is_some(),
        }
    }

    fn tool(self, source: &str) -> Tool {
        let mut tool = Tool::new(source, self.name());
        let entry = |more: Value| json!({"type": "array", "items": {"type": "object", "properties": more}});
        let text = json!({"type": "string"});
        let (description, input, required, output) = match self {
            Self::ListResources => (
                "Lists the resources of this server: documents that `read_resource` reads by their `uri`.",
                json!({}),
                json!([]),
                json!({"type": "object", "required": ["resources"], "properties": {
                    "resources": entry(json!({"uri": text, "name": text, "description": text, "mimeType": text})),
                    "resourceTemplates": entry(json!({"uriTemplate": text, "name": text, "description": text, "mimeType": text})),
                }}),
            ),
            Self::ReadResource => (
                "Reads a resource of this server. Each part has a `text`, or a `blob` in base64.",
                json!({"uri": {"type": "string", "description": "As `list_resources` gives it, or made from a template."}}),
                json!(["uri"]),
                entry(json!({"uri": text, "mimeType": text, "text": text, "blob": text})),
            ),
            Self::ListPrompts => (
                "Lists the prompts of this server: texts that `get_prompt` fills in.",
                json!({}),
                json!([]),
                entry(json!({"name": text, "description": text, "arguments": {"type": "array"}})),
            ),
            Self::GetPrompt => (
                "Fills in a prompt of this server, and returns its messages.",
                json!({"name": text, "arguments": {"type": "object", "additionalProperties": {"type": "string"}}}),
                json!(["name"]),
                json!({"type": "object", "required": ["messages"], "properties": {
                    "description": text,
                    "messages": entry(json!({"role": text, "content": {"type": "object"}})),
                }}),
            ),
        };
        description.clone_into(&mut tool.description);
        let input = json!({"type": "object", "properties": input, "required": required, "additionalProperties": false});
        tool.input_schema = Arc::new(input);
        tool.output_schema = Some(Arc::new(output));
        tool.effect = Effect::Read;
        tool.replay = Replay::Safe;
        tool
    }

    /// Returns what to ask the server.
    pub(super) fn asking(self, args: &Map<String, Value>) -> Asking {
        let text = |key: &str| args.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match self {
            Self::ListResources => Asking::Lists(RESOURCES),
            Self::ListPrompts => Asking::Lists(PROMPTS),
            Self::ReadResource => {
                let params = ReadResourceRequestParams::new(text("uri"));
                Asking::One(
                    "contents",
                    Box::new(move |responses, state| {
                        let mut params = params.clone();
                        (params.input_responses, params.request_state) = (responses, state);
                        ClientRequest::ReadResourceRequest(Request::new(params))
                    }),
                )
            }
            Self::GetPrompt => {
                let mut params = GetPromptRequestParams::new(text("name"));
                params.arguments = args.get("arguments").and_then(Value::as_object).cloned();
                Asking::One(
                    "",
                    Box::new(move |responses, state| {
                        let mut params = params.clone();
                        (params.input_responses, params.request_state) = (responses, state);
                        ClientRequest::GetPromptRequest(Request::new(params))
                    }),
                )
            }
        }
    }
}

/// Adds to a server's tools what reaches its resources and prompts, and returns which were added.
pub(super) fn add(source: &str, capabilities: &ServerCapabilities, tools: &mut Vec<Tool>) -> Vec<(String, Extra)> {
    let offered = Extra::ALL.into_iter().filter(|extra| extra.is_offered(capabilities));
    let missing: Vec<Extra> = offered.filter(|extra| tools.iter().all(|tool| tool.name != extra.name())).collect();
    tools.extend(missing.iter().map(|extra| extra.tool(source)));
    missing.into_iter().map(|extra| (extra.name().to_owned(), extra)).collect()
}
