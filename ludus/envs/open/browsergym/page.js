// What a page shows, and where its elements are. Elements get numbers (`bid`) in document order, which they keep.
(() => {
  if (!window.__ludus || window.__ludus.observe) return;
  const own = window.__ludus;
  const MAX_TEXT = 400;
  const SKIPPED = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "META", "LINK", "HEAD", "TITLE", "BR", "HR", "DEFS", "HTML", "BODY"]);
  const LANDMARKS = { NAV: "navigation", MAIN: "main", HEADER: "banner", FOOTER: "contentinfo", ASIDE: "complementary", ARTICLE: "article", FORM: "form", FIELDSET: "group", DIALOG: "dialog" };
  const PLAIN = { A: "link", BUTTON: "button", TEXTAREA: "textbox", OPTION: "option", IMG: "image", UL: "list", OL: "list", LI: "listitem", TABLE: "table", TR: "row", TD: "gridcell", TH: "columnheader", P: "paragraph", LABEL: "LabelText", IFRAME: "Iframe", CANVAS: "Canvas", PROGRESS: "progressbar", METER: "meter", SUMMARY: "button", DT: "term", DD: "definition", STRONG: "strong", EM: "emphasis", PRE: "code", SVG: "img" };
  const INPUTS = { button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton", search: "searchbox", file: "button", color: "ColorWell", date: "Date", time: "InputTime", password: "textbox" };
  const NAMED = new Set(["link", "button", "heading", "option", "tab", "menuitem", "gridcell", "columnheader", "LabelText", "checkbox", "radio", "treeitem", "switch", "strong", "emphasis", "term"]);
  const QUIET = new Set(["paragraph", "listitem", "list", "row", "table", "gridcell", "strong", "emphasis", "LabelText", "form", "group", "definition"]);
  let numbers = 0;

  const squeeze = (text) => text.replace(/\s+/g, " ").trim();
  const cut = (text) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);
  const quote = (text) => `'${cut(text).replace(/\\/g, "\\\\").replace(/'/g, "\\'").replace(/\n/g, "\\n")}'`;
  const documentOf = (frame) => { try { return frame.contentDocument; } catch { return null; } };
  const hidden = (element, style) => style.display === "none" || style.visibility === "hidden" || element.getAttribute("aria-hidden") === "true" || element.hasAttribute("data-ludus-hidden");
  const role = (element) => {
    const given = element.getAttribute("role");
    if (given && given !== "presentation" && given !== "none") return given.split(" ")[0];
    const tag = element.tagName.toUpperCase();
    if (tag === "INPUT") return element.type === "hidden" ? "" : INPUTS[element.type] || "textbox";
    if (tag === "SELECT") return element.multiple || element.size > 1 ? "listbox" : "combobox";
    if (/^H[1-6]$/.test(tag)) return "heading";
    if (tag === "A" && !element.hasAttribute("href")) return "";
    if (element.isContentEditable && !(element.parentElement && element.parentElement.isContentEditable)) return "textbox";
    return PLAIN[tag] || LANDMARKS[tag] || "";
  };
  const shape = (element) => element instanceof SVGElement && !["svg", "g", "SVG", "G"].includes(element.tagName);
  const clickable = (element, style) => own.heard.has(element) || Boolean(element.onclick || element.onmousedown) || element.hasAttribute("onclick")
    || element.draggable && element.tagName !== "A" && element.tagName !== "IMG" || element.classList.contains("ui-draggable") || element.classList.contains("ui-sortable-handle")
    || element.hasAttribute("tabindex") && element.tabIndex >= 0
    || style.cursor === "pointer" && (!element.parentElement || getComputedStyle(element.parentElement).cursor !== "pointer");
  const name = (element, kind) => {
    const by = element.getAttribute("aria-labelledby");
    if (by) return squeeze(by.split(/\s+/).map((id) => { const one = element.ownerDocument.getElementById(id); return one ? one.textContent : ""; }).join(" "));
    const label = element.getAttribute("aria-label") || element.getAttribute("alt");
    if (label) return squeeze(label);
    if (element.labels && element.labels.length) {
      const said = squeeze([...element.labels].map((one) => one.textContent).join(" "));
      if (said) return said;
    }
    if (element.tagName === "INPUT" && ["button", "submit", "reset"].includes(element.type)) return element.value || { submit: "Submit", reset: "Reset" }[element.type] || "";
    if (NAMED.has(kind)) { const said = squeeze(element.textContent); if (said) return said; }
    return squeeze(element.getAttribute("title") || element.getAttribute("placeholder") || "");
  };
  const states = (element, kind, pointing) => {
    const found = [];
    if (["textbox", "searchbox", "spinbutton", "slider", "ColorWell", "Date", "InputTime"].includes(kind)) {
      const value = "value" in element ? element.value : element.textContent;
      if (value) found.push(`value=${quote(element.type === "password" ? "•".repeat(value.length) : value)}`);
    }
    if (kind === "combobox" && element.selectedOptions && element.selectedOptions.length) found.push(`value=${quote(squeeze(element.selectedOptions[0].textContent))}`);
    if (kind === "slider" && element.max) found.push(`min=${element.min || 0}, max=${element.max}`);
    if ((kind === "checkbox" || kind === "radio") && "checked" in element) found.push(`checked='${element.checked}'`);
    if (kind === "option") found.push(`selected=${Boolean(element.selected)}`);
    for (const state of ["expanded", "selected", "checked", "pressed", "current", "haspopup"]) {
      const value = element.getAttribute(`aria-${state}`);
      if (value !== null && !(kind === "option" && state === "selected")) found.push(`${state}=${quote(value)}`);
    }
    if (shape(element)) {
      found.push(`tag='${element.tagName}'`);
      for (const key of ["fill", "r", "points"]) if (element.hasAttribute(key)) found.push(`${key}=${quote(element.getAttribute(key))}`);
    }
    if (kind === "generic" && !squeeze(element.textContent) && typeof element.className === "string" && element.className) found.push(`class=${quote(element.className)}`);
    if (element.disabled) found.push("disabled");
    if (element.readOnly && kind === "textbox") found.push("readonly");
    if (element.tagName === "TEXTAREA") found.push("multiline");
    if (element.required) found.push("required");
    if (pointing) found.push("clickable");
    if (element.ownerDocument.activeElement === element && element !== element.ownerDocument.body) found.push("focused");
    return found;
  };
  const number = (element) => {
    let bid = element.getAttribute("bid");
    if (bid === null || !/^\d+$/.test(bid) || Number(bid) > numbers) {
      bid = String(++numbers);
      element.setAttribute("bid", bid);
    }
    return bid;
  };
  /** Numbers for all elements, those that a script copied with their number included. */
  const numberAll = (root) => {
    const seen = new Set();
    const walk = (one) => {
      for (const element of one.querySelectorAll("*")) {
        if (SKIPPED.has(element.tagName)) continue;
        let bid = number(element);
        if (seen.has(bid)) { bid = String(++numbers); element.setAttribute("bid", bid); }
        seen.add(bid);
        if (element.tagName === "IFRAME") { const inner = documentOf(element); if (inner && inner.body) walk(inner); }
      }
    };
    walk(root);
  };

  const tree = () => {
    const lines = [`RootWebArea ${quote(document.title)}${document.activeElement === document.body ? ", focused" : ""}, url=${quote(location.href)}`];
    const boxes = [];
    const text = (node, depth) => {
      const said = squeeze(node.data);
      if (said) lines.push(`${"\t".repeat(depth)}StaticText ${quote(said)}`);
    };
    const walk = (element, depth) => {
      for (const child of element.childNodes) {
        if (child.nodeType === 3) text(child, depth);
        else if (child.nodeType === 1) one(child, depth);
      }
    };
    const one = (element, depth) => {
      if (SKIPPED.has(element.tagName)) return;
      const style = element.ownerDocument.defaultView.getComputedStyle(element);
      if (style.display === "none" || element.getAttribute("aria-hidden") === "true" || element.hasAttribute("data-ludus-hidden")) return;
      if (style.visibility === "hidden") { for (const child of element.children) one(child, depth); return; }
      const pointing = clickable(element, style);
      let kind = role(element);
      if (!kind && shape(element)) kind = element.tagName === "text" ? "SvgText" : "graphics-symbol";
      if (!kind && pointing) kind = "generic";
      if (!kind) { walk(element, depth); return; }
      let said = name(element, kind);
      const only = ![...element.childNodes].some((child) => child.nodeType === 1 && !SKIPPED.has(child.tagName));
      if (kind === "generic" && only) said = squeeze(element.textContent);
      if (kind === "SvgText") said = squeeze(element.textContent);
      const more = states(element, kind, pointing && !["link", "button", "option", "checkbox", "radio", "textbox", "combobox"].includes(kind));
      if (QUIET.has(kind) && !pointing && !element.hasAttribute("aria-label") && kind !== "table" && kind !== "row" && kind !== "listitem" && kind !== "gridcell") { walk(element, depth); return; }
      lines.push(`${"\t".repeat(depth)}[${element.getAttribute("bid")}] ${kind} ${quote(said)}${more.map((state) => `, ${state}`).join("")}`);
      if (pointing || !QUIET.has(kind) && kind !== "heading" && !LANDMARKS[element.tagName]) boxes.push([element.getAttribute("bid"), ...corner(element)]);
      if (kind === "Iframe") { const inner = documentOf(element); if (inner && inner.body) walk(inner.body, depth + 1); return; }
      if (only && (said || kind === "textbox") || kind === "textbox") return;
      if (NAMED.has(kind)) { for (const child of element.children) one(child, depth + 1); return; }
      walk(element, depth + 1);
    };
    if (document.body) walk(document.body, 1);
    return { text: lines.join("\n"), boxes };
  };
  const offset = (element) => {
    let [x, y] = [0, 0];
    for (let view = element.ownerDocument.defaultView; view && view !== window; view = view.parent) {
      const box = view.frameElement.getBoundingClientRect();
      x += box.left + view.frameElement.clientLeft;
      y += box.top + view.frameElement.clientTop;
    }
    return [x, y];
  };
  const corner = (element) => {
    const box = element.getBoundingClientRect(), [x, y] = offset(element);
    return [box.left + x, box.top + y, box.width, box.height].map(Math.round);
  };
  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  const VOID = new Set(["INPUT", "IMG", "BR", "HR"]);
  const DROPPED = /^(on|data-wob|data-tampered|data-ludus)/;
  const html = () => {
    const parts = [];
    const one = (node) => {
      if (node.nodeType === 3) { const said = node.data.replace(/\s+/g, " "); if (said.trim()) parts.push(escape(said)); return; }
      if (node.nodeType !== 1 || SKIPPED.has(node.tagName) && node.tagName !== "BR" && node.tagName !== "BODY") return;
      const style = node.ownerDocument.defaultView.getComputedStyle(node);
      if (hidden(node, style) && style.visibility !== "hidden") return;
      const tag = node.tagName.toLowerCase();
      const attributes = [...node.attributes].filter((each) => !DROPPED.test(each.name) && each.name !== "value" && each.name !== "checked");
      const shown = attributes.map((each) => ` ${each.name}="${escape(each.value).replace(/"/g, "&quot;")}"`);
      if ("value" in node && typeof node.value === "string" && node.value && node.type !== "password" && tag !== "li" && tag !== "button") shown.push(` value="${escape(node.value).replace(/"/g, "&quot;")}"`);
      if (node.checked) shown.push(" checked");
      parts.push(`<${tag}${shown.join("")}>`);
      if (VOID.has(node.tagName)) return;
      const inner = node.tagName === "IFRAME" ? documentOf(node) : null;
      for (const child of (inner && inner.body ? inner.body : node).childNodes) if (node.tagName !== "TEXTAREA") one(child);
      parts.push(`</${tag}>`);
    };
    if (document.body) one(document.body);
    return parts.join("");
  };
  own.observe = (most) => {
    numberAll(document);
    const found = tree(), written = html();
    const short = (text) => (text.length > most ? `${text.slice(0, most)}\n… ${text.length - most} characters more` : text);
    return { url: location.href, title: document.title, tree: short(found.text), html: short(written), boxes: found.boxes };
  };

  // --- finding elements ---

  const everywhere = function* (root) {
    yield root;
    for (const frame of root.querySelectorAll("iframe")) { const inner = documentOf(frame); if (inner) yield* everywhere(inner); }
  };
  const find = (how, value) => {
    for (const root of everywhere(document)) {
      if (how === "css") { const one = root.querySelector(value); if (one) return one; continue; }
      for (const one of root.querySelectorAll(`[${how}]`)) if (one.getAttribute(how) === value) return one;
    }
    return null;
  };
  const found = (how, value) => {
    if (how === "plain") return find("bid", value) || find("id", value) || find("name", value);
    if (how === "id") return find("id", value) || find("bid", value);
    return find(how, value);
  };
  const asked = (how, value) => {
    const element = found(how, value);
    if (!element) throw new Error(`no element with ${how === "plain" ? "bid" : how} '${value}' on this page`);
    return element;
  };
  const GRID = [0.5, 0.25, 0.75, 0.1, 0.9];
  own.locate = (how, value, enabled) => {
    const element = asked(how, value);
    element.scrollIntoViewIfNeeded(true);
    const boxes = [...element.getClientRects()].filter((box) => box.width > 0 && box.height > 0);
    if (!boxes.length || getComputedStyle(element).visibility === "hidden") throw new Error(`element '${value}' is not visible`);
    if (enabled && element.disabled) throw new Error(`element '${value}' is disabled`);
    const [x, y] = offset(element);
    let over = null;
    for (const box of boxes) {
      for (const down of GRID) for (const right of GRID) {
        const at = [box.left + box.width * right, box.top + box.height * down];
        const hit = element.ownerDocument.elementFromPoint(...at);
        if (hit && (element === hit || element.contains(hit) || hit.control === element || hit.closest("label") && hit.closest("label").control === element)) return [at[0] + x, at[1] + y];
        over = over || hit;
      }
    }
    if (!over) throw new Error(`element '${value}' is outside of the viewport`);
    throw new Error(`element '${value}' is covered by <${over.tagName.toLowerCase()}${over.getAttribute("bid") ? ` bid='${over.getAttribute("bid")}'` : ""}>`);
  };
  const editable = (element, value) => {
    if (element.disabled) throw new Error(`element '${value}' is disabled`);
    if (element.readOnly) throw new Error(`element '${value}' is read-only`);
  };
  const UNTYPED = new Set(["button", "submit", "reset", "checkbox", "radio", "file", "image", "hidden"]);
  own.fill = (how, value, text) => {
    const element = asked(how, value);
    element.scrollIntoViewIfNeeded(true);
    editable(element, value);
    const typed = element.tagName === "TEXTAREA" || element.tagName === "INPUT" && !UNTYPED.has(element.type);
    if (!typed && !element.isContentEditable) throw new Error(`element '${value}' is no text field`);
    element.focus();
    if (element.isContentEditable) element.textContent = text;
    else {
      const proto = element.tagName === "TEXTAREA" ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
      Object.getOwnPropertyDescriptor(proto, "value").set.call(element, text);
      if (element.value !== text && !(element.tagName === "TEXTAREA" || element.type === "range")) throw new Error(`'${text}' is no value for an input of type ${element.type}`);
      if (element.setSelectionRange && ["text", "search", "textarea", "url", "tel", "password"].includes(element.type)) element.setSelectionRange(text.length, text.length);
    }
    element.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertText", data: text }));
    element.dispatchEvent(new Event("change", { bubbles: true }));
    element.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, key: "Unidentified" }));
    element.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true, key: "Unidentified" }));
  };
  own.focus = (how, value) => { const element = asked(how, value); element.scrollIntoViewIfNeeded(true); element.focus(); };
  own.checked = (how, value) => {
    const element = asked(how, value);
    if (!("checked" in element) && !element.hasAttribute("aria-checked")) throw new Error(`element '${value}' is no checkbox or radio button`);
    return "checked" in element ? element.checked : element.getAttribute("aria-checked") === "true";
  };
  own.select = (how, value, wanted) => {
    let element = asked(how, value);
    if (element.tagName === "OPTION") element = element.closest("select");
    if (!element || element.tagName !== "SELECT") throw new Error(`element '${value}' is no <select>`);
    editable(element, value);
    const options = [...element.options], chosen = [];
    for (const one of wanted) {
      const option = options.find((each) => each.value === one || each.label === one || squeeze(each.textContent) === one || each.getAttribute("bid") === one);
      if (!option) throw new Error(`element '${value}' has no option '${one}'; it has ${options.slice(0, 20).map((each) => `'${squeeze(each.textContent)}'`).join(", ")}`);
      chosen.push(option);
    }
    if (!element.multiple && chosen.length > 1) throw new Error(`element '${value}' takes one option, got ${chosen.length}`);
    element.focus();
    for (const option of options) option.selected = chosen.includes(option);
    element.dispatchEvent(new Event("input", { bubbles: true }));
    element.dispatchEvent(new Event("change", { bubbles: true }));
  };
  /** What is selected, in a field or in the page; with `cut` it is deleted. */
  own.selected = (cut) => {
    let at = document.activeElement;
    while (at && at.tagName === "IFRAME" && documentOf(at)) at = documentOf(at).activeElement;
    const field = at && typeof at.selectionStart === "number" && typeof at.value === "string";
    const text = field ? at.value.slice(at.selectionStart, at.selectionEnd) : String(getSelection());
    if (cut) document.execCommand("delete");
    return text;
  };
  own.scroll = (x, y) => {
    const center = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
    for (let one = center; one; one = one.parentElement) {
      const before = [one.scrollLeft, one.scrollTop];
      one.scrollBy(x, y);
      if (one.scrollLeft !== before[0] || one.scrollTop !== before[1]) return;
    }
    window.scrollBy(x, y);
  };
})();
