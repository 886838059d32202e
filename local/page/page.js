"use strict";
// Shows the channel as Slack would: messages, cards that change in place, threads below their card, one window.
const $ = (id) => document.getElementById(id);
let state = null;
let me = "U0ADA";
let place = null;

const escaped = (text) => text.replace(/&(?!(amp|lt|gt);)/g, "&amp;").replace(/"/g, "&quot;");

function mrkdwn(text) {
  const parts = escaped(text).split(/(`[^`\n]+`)/);
  return parts.map((part) => {
    if (/^`[^`]+`$/.test(part)) return `<code>${part.slice(1, -1)}</code>`;
    return part
      .replace(/<@(\w+)>/g, (_, id) => `<span class="mention">@${state.people[id] || id}</span>`)
      .replace(/<#(\w+)>/g, (_, id) => `<span class="mention">#${state.channels[id] || "private"}</span>`)
      .replace(/<!date\^(\d+)\^[^|>]*\|[^>]*>/g, (_, s) => new Date(Number(s) * 1000).toLocaleString())
      .replace(/<(https?:[^|>]+)\|([^>]*)>/g, '<a href="$1" target="_blank" rel="noopener">$2</a>')
      .replace(/<(?!\/?(span|a)\b)/g, "&lt;")
      .replace(/\*([^*\n]+)\*/g, "<strong>$1</strong>")
      .replace(/\n/g, "<br>");
  }).join("");
}

function blockOf(block, message) {
  const box = document.createElement("div");
  if (block.type === "header") {
    const title = document.createElement("h2");
    title.textContent = block.text.text;
    return title;
  }
  if (block.type === "section") {
    box.className = block.fields ? "fields" : "section";
    if (block.text) box.innerHTML = mrkdwn(block.text.text);
    for (const field of block.fields || []) {
      const cell = document.createElement("div");
      cell.innerHTML = mrkdwn(field.text);
      box.append(cell);
    }
    return box;
  }
  if (block.type === "actions") {
    for (const element of block.elements) {
      const button = document.createElement("button");
      button.textContent = element.text.text;
      button.dataset.action = element.action_id;
      if (element.style === "danger") button.className = "danger";
      button.onclick = () => press(element, block, message);
      box.append(button);
    }
    return box;
  }
  box.className = "context";
  box.innerHTML = block.elements.map((e) => mrkdwn(e.text)).join(" ");
  return box;
}

function messageOf(message) {
  const box = document.createElement("article");
  box.className = "message";
  box.dataset.ts = message.ts;
  if (message.only_for && message.user === state.bot) box.classList.add("private-message");
  if (message.thread_ts) box.classList.add("reply");
  const who = message.user === state.bot ? "Paddock" : state.people[message.user] || message.user;
  const when = new Date(Number(message.ts) * 1000).toLocaleTimeString();
  const head = document.createElement("div");
  head.innerHTML = `<span class="who"></span><span class="when"></span><span class="private"></span>`;
  head.children[0].textContent = who;
  head.children[1].textContent = when;
  if (message.only_for && message.user === state.bot) head.children[2].textContent = "Only visible to you";
  box.append(head);
  const body = document.createElement("div");
  if (message.blocks.length) {
    body.className = "card";
    for (const block of message.blocks) body.append(blockOf(block, message));
  } else {
    body.innerHTML = mrkdwn(message.text);
  }
  for (const file of message.files || []) {
    const picture = document.createElement("img");
    picture.src = `/file/${file.id}`;
    picture.alt = file.alt;
    picture.title = file.title;
    body.append(picture);
  }
  box.append(body);
  return box;
}

function show() {
  const list = $("messages");
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 80;
  const visible = state.messages.filter((m) => m.channel === place && (!m.only_for || m.only_for === me));
  const top = visible.filter((m) => !m.thread_ts);
  list.replaceChildren(...top.flatMap((m) => [m, ...visible.filter((r) => r.thread_ts === m.ts)]).map(messageOf));
  if (atEnd) list.scrollTop = list.scrollHeight;
  const modal = $("modal");
  if (state.modal) {
    $("modal-title").textContent = state.modal.title.text;
    $("modal-body").innerHTML = state.modal.blocks.map((b) => mrkdwn(b.text.text)).join("<br>");
    $("modal-close").textContent = state.modal.close.text;
    if (!modal.open) modal.showModal();
  } else if (modal.open) {
    modal.close();
  }
}

async function send(path, body) {
  await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

function press(element, block, message) {
  const go = () => send("/press", { action_id: element.action_id, value: element.value, block_id: block.block_id,
    ts: message.ts, channel: place, user: me });
  if (!element.confirm) return go();
  $("confirm-title").textContent = element.confirm.title.text;
  $("confirm-text").textContent = element.confirm.text.text;
  $("confirm-yes").textContent = element.confirm.confirm.text;
  $("confirm-no").textContent = element.confirm.deny.text;
  $("confirm-yes").onclick = () => { $("confirm").close(); go(); };
  $("confirm-no").onclick = () => $("confirm").close();
  $("confirm").showModal();
}

$("composer").onsubmit = (event) => {
  event.preventDefault();
  const text = $("text").value.trim();
  if (!text) return;
  $("text").value = "";
  send("/type", { text, channel: place, user: me });
};
$("modal-close").onclick = () => send("/close", {});
$("modal").addEventListener("cancel", () => send("/close", {}));
$("place").onchange = (event) => { place = event.target.value; show(); };
$("user").onchange = (event) => { me = event.target.value; listPlaces(); show(); };

function listPlaces() {
  const direct = "D" + me.slice(1);
  const channels = Object.entries(state.channels).map(([id, name]) => new Option(`# ${name}`, id));
  if (place.startsWith("D")) place = direct;
  $("place").replaceChildren(...channels, new Option("Paddock (direct messages)", direct));
  $("place").value = place;
}

async function follow() {
  for (;;) {
    try {
      const since = state ? state.changed : -1;
      const answer = await fetch(`/state?since=${since}&wait=20`);
      const first = state === null;
      state = await answer.json();
      if (first) {
        $("user").replaceChildren(...Object.entries(state.people).map(([id, name]) => new Option(name, id)));
        place = state.channel.id;
        listPlaces();
      }
      show();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}
follow();
