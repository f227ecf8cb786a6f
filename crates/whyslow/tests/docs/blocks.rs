//! Finds the examples in a document.

/// One fenced block that is marked `console`.
#[derive(Debug, Default)]
pub struct Block {
    /// Of its fence, from 1.
    pub line: usize,
    pub is_run: bool,
    /// Programs without which it cannot run.
    pub needs: Vec<String>,
    pub commands: Vec<Command>,
    /// What is wrong with the way it is written.
    pub faults: Vec<String>,
}

#[derive(Debug, Default)]
pub struct Command {
    pub text: String,
    pub status: i32,
    /// Lines that must be in what it writes.
    pub expected: Vec<String>,
}

pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else { continue };
        let indent = line.len() - line.trim_start().len();
        let body =
            lines.by_ref().map(|(_, line)| line).take_while(|line| !line.trim_start().starts_with("```"));
        let body: Vec<&str> = body.map(|line| without_indent(line, indent)).collect();
        let mut words = info.split_whitespace();
        if words.next() == Some("console") {
            blocks.push(block(number + 1, words, &body));
        }
    }
    blocks
}

fn without_indent(line: &str, indent: usize) -> &str {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    &line[spaces.min(indent)..]
}

fn block<'a>(line: usize, marks: impl Iterator<Item = &'a str>, body: &[&str]) -> Block {
    let mut block = Block { line, is_run: true, ..Block::default() };
    for mark in marks {
        match mark.split_once('=') {
            None if mark == "norun" => block.is_run = false,
            Some(("needs", programs)) => block.needs.extend(programs.split(',').map(str::to_owned)),
            _ => block.faults.push(format!("the mark {mark} is unknown")),
        }
    }
    add_commands(&mut block, body);
    if block.commands.is_empty() {
        block.faults.push("no command".to_owned());
    }
    block
}

fn add_commands(block: &mut Block, body: &[&str]) {
    let mut lines = body.iter();
    while let Some(&line) = lines.next() {
        if let Some(text) = line.strip_prefix("$ ") {
            let mut text = text.to_owned();
            while text.ends_with('\\') {
                let Some(more) = lines.next() else { break };
                text.push('\n');
                text.push_str(more);
            }
            block.commands.push(Command { text, ..Command::default() });
            continue;
        }
        match block.commands.last_mut() {
            Some(command) => expect(command, line),
            None => block.faults.push(format!("{line:?} stands before the first command")),
        }
    }
    block.commands.iter_mut().for_each(drop_notes);
}

/// Which notes a result ends with is a matter of the machine and the hour.
fn drop_notes(command: &mut Command) {
    if let Some(first) = command.expected.iter().position(|line| line.starts_with("* ")) {
        command.expected.truncate(first);
    }
}

fn expect(command: &mut Command, line: &str) {
    let status = line.strip_prefix("[exit ").and_then(|rest| rest.strip_suffix(']')?.parse().ok());
    match (status, line) {
        (Some(status), _) => command.status = status,
        (None, "...") => drop(command.expected.pop()),
        (None, line) => command.expected.push(line.to_owned()),
    }
}
