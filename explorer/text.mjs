// Text as lines that any C compiler takes: short, and no trigraphs. "??" is the only way to one.
export function asC(name, text) {
  const lines = [];
  for (let at = 0; at < text.length; at += 96) {
    const escaped = text.slice(at, at + 96).replace(/\\/g, "\\\\").replace(/"/g, '\\"')
      .replace(/\n/g, "\\n").replace(/\?/g, "\\?");
    lines.push(`    "${escaped}",\n`);
  }
  return `static const char *const ${name}[] = {\n${lines.join("")}    NULL};\n`;
}
