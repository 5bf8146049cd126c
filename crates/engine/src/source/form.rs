//! The forms that a program may have, each turned into the body of an async function that returns the result.
//!
//! | the program is | what becomes of it |
//! |---|---|
//! | statements with a `return` | nothing |
//! | one function or arrow, also in parentheses | it is called |
//! | `export default` of a function | it is called, after everything else |
//! | `export default` of a value | that is returned; if it turns out to be a function, what it gives |
//! | statements that end in an expression | that is returned, if the script gets there without an earlier `return` |
//! | declarations only, with one function or one called `main` | it is called, and a remark says so |
//!
//! Whatever is returned is awaited, so a function that calls itself and a promise give their values. An assignment, `++`,
//! `delete` and `void` at the end are no result: they are written for what they do. A call counts: `main()` is the usual last
//! line. Directives (`"use strict"`) are no statements.
//!
//! Types that are imported or exported are no statements either; all other modules are refused.

use oxc::{
    allocator::{Allocator, ArenaVec, TakeIn},
    ast::{
        ast::{
            Argument, BinaryOperator, BindingPattern, ExportDefaultDeclarationKind, Expression, FormalParameters,
            Function, FunctionType, ImportOrExportKind, Program, Statement, UnaryOperator, VariableDeclaration,
        },
        builder::AstBuilder,
    },
    span::{GetSpan, Span},
};

use super::{Position, Remark, SyntaxError};

/// How a program must look, for messages about one that does not.
const SHAPE: &str = "write statements that end in `return <result>`, or one `async () => { … }`";

/// What a function may name as a parameter and is then given.
const GIVEN: [&str; 2] = ["tools", "args"];

/// Gives `program` its one form. Spans stay, so positions do.
pub(super) fn shape<'a>(
    text: &str,
    program: &mut Program<'a>,
    allocator: &'a Allocator,
) -> Result<Vec<Remark>, SyntaxError> {
    let mut form = Form { text, builder: AstBuilder::new(allocator), allocator, last: None, remarks: Vec::new() };
    // It would stand in the middle of what runs.
    program.hashbang = None;
    let old = program.body.take_in(&form.builder);
    let mut body = ArenaVec::from_iter_in([], &form.builder);
    for statement in old {
        if let Some(statement) = form.without_modules(statement)? {
            body.push(statement);
        }
    }
    let counts = |statement: &&Statement<'_>| !is_silent(statement);
    let Some(at) = body.iter().rposition(|statement| counts(&statement)) else {
        if form.last.is_none() {
            let message = format!("the script is empty, so nothing would run; {SHAPE}");
            return Err(SyntaxError { message, position: Position::START });
        }
        program.body = body;
        program.body.extend(form.last);
        return Ok(form.remarks);
    };
    if let Some(last) = form.last.take() {
        body.push(last);
    } else if body.iter().filter(counts).count() == 1 && is_function_statement(&body[at]) {
        let statement = body[at].take_in(&form.builder);
        body[at] = form.called_statement(statement);
    } else if matches!(&body[at], Statement::ExpressionStatement(last) if is_result(&last.expression)) {
        let statement = body[at].take_in(&form.builder);
        body[at] = form.returned_statement(statement);
    } else if let Some(call) = form.main(&body)? {
        body.push(call);
    }
    program.body = body;
    Ok(form.remarks)
}

struct Form<'t, 'a> {
    text: &'t str,
    builder: AstBuilder<'a>,
    allocator: &'a Allocator,
    /// What `export default` makes the last statement.
    last: Option<Statement<'a>>,
    remarks: Vec<Remark>,
}

impl<'a> Form<'_, 'a> {
    fn refuse<T>(&self, span: Span, message: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError { message: message.into(), position: Position::of(self.text, span.start) })
    }

    /// The statement as it stands in a function, or nothing if it only concerns types.
    fn without_modules(&mut self, statement: Statement<'a>) -> Result<Option<Statement<'a>>, SyntaxError> {
        let span = statement.span();
        match statement {
            Statement::ImportDeclaration(import) if import.import_kind == ImportOrExportKind::Type => Ok(None),
            Statement::ImportDeclaration(import) => {
                let line = Position::of(self.text, span.start).line;
                self.refuse(
                    span,
                    format!(
                        "`import` of \"{}\" on line {line}: a script cannot import anything; the tools are already in scope, \
                         as `await tools.<source>.<tool>(args)`, and everything else a script has is a global",
                        import.source.value
                    ),
                )
            }
            Statement::TSImportEqualsDeclaration(_) => self.refuse(
                span,
                "`import` does not exist here: the tools are already in scope, as `await tools.<source>.<tool>(args)`",
            ),
            Statement::ExportNamedDeclaration(export) if export.export_kind == ImportOrExportKind::Type => Ok(None),
            Statement::ExportDeclaration(mut export) if export.declaration.is_type() => {
                Ok(Some(Statement::from(export.declaration.take_in(&self.builder))))
            }
            Statement::ExportDeclaration(_)
            | Statement::ExportNamedDeclaration(_)
            | Statement::ExportFromDeclaration(_)
            | Statement::ExportAllDeclaration(_)
            | Statement::TSExportAssignment(_) => self.refuse(
                span,
                "`export` does not exist here, but for `export default`: a script is one function, so `return` the result",
            ),
            Statement::TSNamespaceExportDeclaration(_) => Ok(None),
            Statement::ExportDefaultDeclaration(mut export) => {
                if self.last.is_some() {
                    return self.refuse(span, "a script has one `export default`, and this is the second");
                }
                let kind = export.declaration.take_in(&self.builder);
                self.exported(span, kind)
            }
            other => Ok(Some(other)),
        }
    }

    fn exported(
        &mut self,
        span: Span,
        kind: ExportDefaultDeclarationKind<'a>,
    ) -> Result<Option<Statement<'a>>, SyntaxError> {
        match kind {
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => Ok(None),
            ExportDefaultDeclarationKind::ClassDeclaration(class) => {
                self.refuse(class.span, format!("a class is no program, so there is nothing to call; {SHAPE}"))
            }
            ExportDefaultDeclarationKind::FunctionDeclaration(mut function) => {
                let Some(name) = function.id.as_ref().map(|id| id.name) else {
                    function.r#type = FunctionType::FunctionExpression;
                    let call = self.call(span, Expression::FunctionExpression(function));
                    self.last = Some(self.returned(span, call));
                    return Ok(None);
                };
                let arguments = self.arguments(&function.params);
                let callee = Expression::new_identifier(function.span, name, &self.builder);
                let call = Expression::new_call_expression(span, callee, None, arguments, false, &self.builder);
                self.last = Some(self.returned(span, call));
                Ok(Some(Statement::FunctionDeclaration(function)))
            }
            value => {
                let value = value.into_expression();
                let result = if is_function(&value) {
                    self.call(span, value)
                } else if matches!(value.get_inner_expression(), Expression::Identifier(_)) {
                    self.called_if_function(span, value)
                } else {
                    value
                };
                self.last = Some(self.returned(span, result));
                Ok(None)
            }
        }
    }

    /// `typeof name === "function" ? name() : name`.
    fn called_if_function(&self, span: Span, value: Expression<'a>) -> Expression<'a> {
        let Some(name) = value.get_inner_expression().get_identifier_reference().map(|reference| reference.name) else {
            return value;
        };
        let b = &self.builder;
        let at = value.span();
        let kind =
            Expression::new_unary_expression(at, UnaryOperator::Typeof, Expression::new_identifier(at, name, b), b);
        let function = Expression::new_string_literal(at, "function", None, b);
        let test = Expression::new_binary_expression(at, kind, BinaryOperator::StrictEquality, function, b);
        let call = self.call(span, Expression::new_identifier(at, name, b));
        Expression::new_conditional_expression(span, test, call, value, b)
    }

    fn returned(&self, span: Span, value: Expression<'a>) -> Statement<'a> {
        Statement::new_return_statement(span, Some(value), &self.builder)
    }

    fn returned_statement(&self, statement: Statement<'a>) -> Statement<'a> {
        match statement {
            Statement::ExpressionStatement(mut it) => {
                let value = it.expression.take_in(&self.builder);
                self.returned(it.span, value)
            }
            other => other,
        }
    }

    fn called_statement(&self, statement: Statement<'a>) -> Statement<'a> {
        match statement {
            Statement::ExpressionStatement(mut it) => {
                let value = it.expression.take_in(&self.builder);
                let call = self.call(it.span, value);
                self.returned(it.span, call)
            }
            other => other,
        }
    }

    fn call(&self, span: Span, function: Expression<'a>) -> Expression<'a> {
        let arguments = match function.get_inner_expression() {
            Expression::ArrowFunctionExpression(arrow) => self.arguments(&arrow.params),
            Expression::FunctionExpression(function) => self.arguments(&function.params),
            _ => ArenaVec::from_iter_in([], &self.builder),
        };
        Expression::new_call_expression(span, function, None, arguments, false, &self.builder)
    }

    /// A parameter that is called like a global is that global: some systems hand `tools` to the function, and some an object
    /// with all there is.
    fn arguments(&self, params: &FormalParameters<'a>) -> ArenaVec<'a, Argument<'a>> {
        let known = params.items.iter().map_while(|param| match &param.pattern {
            BindingPattern::BindingIdentifier(id) => {
                GIVEN.contains(&id.name.as_str()).then_some((id.span, id.name.as_str()))
            }
            BindingPattern::ObjectPattern(fields) => Some((fields.span, "globalThis")),
            BindingPattern::ArrayPattern(_) | BindingPattern::AssignmentPattern(_) => None,
        });
        let b = &self.builder;
        let argument = |(span, name)| {
            Argument::from(Expression::new_identifier(span, oxc::str::Ident::from_str_in(name, &self.allocator), b))
        };
        ArenaVec::from_iter_in(known.map(argument), b)
    }

    /// The call of the one function of a program that only declares, where it is clear which that is.
    fn main(&mut self, body: &[Statement<'a>]) -> Result<Option<Statement<'a>>, SyntaxError> {
        let mut functions: Vec<Declared<'_, 'a>> = Vec::new();
        for statement in body {
            match statement {
                Statement::FunctionDeclaration(function) => functions.extend(Declared::of(function)),
                Statement::VariableDeclaration(declaration) => {
                    let Some(found) = declared(declaration) else { return Ok(None) };
                    functions.extend(found);
                }
                Statement::ClassDeclaration(_) | Statement::TSEnumDeclaration(_) => {}
                other if is_silent(other) => {}
                _ => return Ok(None),
            }
        }
        let one = match &functions[..] {
            [] => return Ok(None),
            [one] => Some(one),
            several => several.iter().find(|function| function.name == "main"),
        };
        let callable = one.filter(|function| {
            !function.generator && self.arguments(function.params).len() >= required(function.params)
        });
        let Some(function) = callable else {
            let names: Vec<String> = functions.iter().map(|function| format!("`{}`", function.name)).collect();
            return self.refuse(
                functions[0].span,
                format!(
                    "the script only declares {} and never calls it, so nothing would run; end it with a call, like \
                     `return {}(…)`, or {SHAPE}",
                    names.join(", "),
                    functions[functions.len() - 1].name
                ),
            );
        };
        self.remarks.push(Remark {
            kind: "form",
            message: format!("the script only declares `{0}`, so `{0}()` was called", function.name),
            position: Position::of(self.text, function.span.start),
        });
        let name = oxc::str::Ident::from_str_in(function.name, &self.allocator);
        let callee = Expression::new_identifier(function.span, name, &self.builder);
        let arguments = self.arguments(function.params);
        let call = Expression::new_call_expression(function.span, callee, None, arguments, false, &self.builder);
        Ok(Some(self.returned(function.span, call)))
    }
}

/// A function of a program that only declares.
struct Declared<'p, 'a> {
    name: &'p str,
    span: Span,
    params: &'p FormalParameters<'a>,
    generator: bool,
}

impl<'p, 'a> Declared<'p, 'a> {
    fn of(function: &'p Function<'a>) -> Option<Self> {
        let id = function.id.as_ref()?;
        // An overload or `declare function` has no body.
        function.body.as_ref()?;
        Some(Self { name: id.name.as_str(), span: id.span, params: &function.params, generator: function.generator })
    }
}

/// The functions that `declaration` gives names to. None if it does more than give names to functions and to plain values.
fn declared<'p, 'a>(declaration: &'p VariableDeclaration<'a>) -> Option<Vec<Declared<'p, 'a>>> {
    let mut functions = Vec::new();
    for declarator in &declaration.declarations {
        let BindingPattern::BindingIdentifier(id) = &declarator.id else { return None };
        let Some(init) = &declarator.init else { continue };
        let (params, generator) = match init.get_inner_expression() {
            Expression::ArrowFunctionExpression(arrow) => (&arrow.params, false),
            Expression::FunctionExpression(function) => (&function.params, function.generator),
            value if is_plain(value, 8) => continue,
            _ => return None,
        };
        functions.push(Declared { name: id.name.as_str(), span: id.span, params, generator });
    }
    Some(functions)
}

/// Whether making the value can have no effect.
fn is_plain(value: &Expression<'_>, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match value.get_inner_expression() {
        Expression::ArrayExpression(array) => array
            .elements
            .iter()
            .all(|element| element.is_elision() || element.as_expression().is_some_and(|value| is_plain(value, depth))),
        Expression::ObjectExpression(object) => object
            .properties
            .iter()
            .all(|property| property.as_property().is_some_and(|it| !it.computed && is_plain(&it.value, depth))),
        Expression::UnaryExpression(unary) => is_plain(&unary.argument, depth),
        Expression::TemplateLiteral(template) => template.is_no_substitution_template(),
        other => other.is_literal(),
    }
}

fn required(params: &FormalParameters<'_>) -> usize {
    params.items.iter().rposition(|param| param.initializer.is_none() && !param.optional).map_or(0, |last| last + 1)
}

/// Whether a statement is nothing once types are stripped.
fn is_silent(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::EmptyStatement(_) => true,
        Statement::FunctionDeclaration(function) => function.body.is_none(),
        Statement::VariableDeclaration(declaration) => declaration.declare,
        Statement::ClassDeclaration(class) => class.declare,
        Statement::TSEnumDeclaration(declaration) => declaration.declare,
        Statement::TSTypeAliasDeclaration(_)
        | Statement::TSInterfaceDeclaration(_)
        | Statement::TSGlobalDeclaration(_)
        | Statement::TSExternalModuleDeclaration(_) => true,
        Statement::TSNamespaceDeclaration(namespace) => namespace.declare,
        _ => false,
    }
}

fn is_function(value: &Expression<'_>) -> bool {
    match value.get_inner_expression() {
        Expression::ArrowFunctionExpression(_) => true,
        Expression::FunctionExpression(function) => !function.generator,
        _ => false,
    }
}

fn is_function_statement(statement: &Statement<'_>) -> bool {
    matches!(statement, Statement::ExpressionStatement(it) if is_function(&it.expression))
}

/// Whether an expression at the end of a script is written for its value.
fn is_result(value: &Expression<'_>) -> bool {
    match value.get_inner_expression() {
        Expression::AssignmentExpression(_) | Expression::UpdateExpression(_) => false,
        Expression::UnaryExpression(unary) => !matches!(unary.operator, UnaryOperator::Void | UnaryOperator::Delete),
        Expression::SequenceExpression(sequence) => sequence.expressions.last().is_some_and(is_result),
        _ => true,
    }
}
