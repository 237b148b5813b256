// The page: shows what the server tells of a table, and sends what the person does.

const COLOURS = { R: ["red", "●"], Y: ["yellow", "▲"], G: ["green", "■"], B: ["blue", "◆"] };
const SYMBOLS = { S: "skip", R: "reverse", W: "wild", "W+4": "wild draw four", "+2": "draw two", KP: "King Pig" };
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 20, 100, 300, 1000]; // decisions a second
const MOST_REQUESTS = 20; // a second
const PATIENCE = 150; // milliseconds that a table of a record is looked at before advice is asked for

const $ = (id) => document.getElementById(id);

let menu; // what the server offers
let token = null; // of the table or record that is open
let kind = null; // "tables" or "records"
let seen = null; // what was last told of it
let paused = false;
let timer = 0; // of the next decision of bots, or of advice on a record
let advised = 0; // counts questions for advice, so that late answers are dropped

// ------------------------------------------------------------------ talking to the server

class Refused extends Error {
  constructor(text, status) {
    super(text);
    this.status = status;
  }
}

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(`/api/${path}`, options);
  } catch {
    throw new Refused("the server does not answer: is it still running?", 0);
  }
  const answer = await response.json().catch(() => ({ error: `the server failed (${response.status})` }));
  if (!response.ok) throw new Refused(answer.error, response.status);
  return answer;
}

/** Do something, and say it if it is refused. */
async function attempt(what) {
  try {
    await what();
    say(null);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    say(error.message);
    if (error.status === 404) close();
  }
}

function say(text) {
  $("error").hidden = text === null;
  $("error").textContent = text ?? "";
}

// ------------------------------------------------------------------ making elements

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function nameOf(card) {
  const colour = COLOURS[card[0]];
  if (!colour) return SYMBOLS[card];
  const symbol = card.slice(1);
  return `${colour[0]} ${SYMBOLS[symbol] ?? symbol}`;
}

const urlOf = (card) => `/cards/${encodeURIComponent(card)}.svg`;
const picture = (card) => make("img", { src: urlOf(card), alt: nameOf(card) });
const unseen = () => make("img", { src: "/cards/back.svg", alt: "" });

// ------------------------------------------------------------------ starting

let wanted = ["you", "trained", "greedy"]; // who is to have each seat

function showSeats() {
  $("seats").replaceChildren(...wanted.map((name, seat) => {
    const select = make("select", { id: `seat-${seat}` });
    select.append(...[menu.person, ...menu.bots].map((bot) => make("option", { value: bot, textContent: bot })));
    select.value = name;
    select.addEventListener("change", () => {
      // There is one person: who sat elsewhere makes room.
      if (select.value === menu.person) wanted = wanted.map((old) => (old === menu.person ? "trained" : old));
      wanted[seat] = select.value;
      showSeats();
    });
    return make("label", {}, make("span", { textContent: `Seat ${seat}` }), select);
  }));
  $("fewer").disabled = wanted.length <= 2;
  $("more").disabled = wanted.length >= menu.most_players;
  $("sit").textContent = wanted.includes(menu.person) ? "Play" : "Watch";
}

function showStart() {
  $("start").hidden = false;
  $("game").hidden = $("ended").hidden = $("leave").hidden = true;
  $("what").textContent = "Play against bots, or watch them.";
  showSeats();
}

async function sit(event) {
  event.preventDefault();
  const house = menu.house_rules.filter((rule) => $(`house-${rule}`).checked).map((rule) => `${rule}=True`);
  await attempt(async () => {
    const answer = await ask("tables", { rules: [$("preset").value, ...house].join(" "), seats: wanted });
    open("tables", answer);
  });
}

async function openRecord(text) {
  await attempt(async () => open("records", await ask("records", { record: text })));
}

function open(of, answer) {
  [kind, token, paused] = [of, answer.token, false];
  sessionStorage.setItem("open", JSON.stringify([kind, token]));
  $("start").hidden = $("ended").hidden = true;
  $("game").hidden = $("leave").hidden = false;
  $("board").focus({ preventScroll: true }); // not on what was pressed to get here
  show(answer.table);
}

function close() {
  clearTimeout(timer);
  sessionStorage.removeItem("open");
  token = kind = seen = null;
  advised += 1;
  $("colours").close();
  showStart();
}

/** After a reload the table that was open is open again. */
async function resume() {
  const [of, old] = JSON.parse(sessionStorage.getItem("open") ?? "[]");
  if (!old) return;
  await attempt(async () => {
    const table = await ask(of === "records" ? `records/${old}/0` : `tables/${old}`);
    open(of, { token: old, table });
  });
}

// ------------------------------------------------------------------ showing a table

function show(table) {
  seen = table;
  advised += 1;
  const replayed = kind === "records";
  const watched = table.seat === null;
  $("what").textContent = table.rules;
  $("leave").textContent = replayed ? "Close" : "Leave";
  $("table-seats").replaceChildren(...table.seats.map(showSeat));
  $("pile").textContent = `${table.pile} to draw`;
  $("top").src = urlOf(table.top);
  $("top").alt = `on top: ${nameOf(table.top)}`;
  const [colour, mark] = COLOURS[table.colour] ?? ["not yet named", "?"];
  $("colour").replaceChildren("colour: ", make("b", { textContent: `${mark} ${colour}` }));
  if (table.stack) $("colour").append(`, ${table.stack} stacked`);
  $("direction").textContent = table.direction === 1 ? "↻ clockwise" : "↺ the other way";
  $("status").textContent = table.status;
  $("log").start = table.decided;
  $("log").replaceChildren(...table.log.toReversed().map((line) => make("li", { textContent: line })));
  $("hand").hidden = replayed || watched;
  $("hand").replaceChildren(...(table.hand ?? []).map(showCard));
  $("choices").hidden = replayed;
  $("choices").replaceChildren(...(table.choices ?? []).map(({ action, label }) => {
    const button = make("button", { type: "button", textContent: label });
    button.dataset.action = action;
    button.addEventListener("click", () => act(action));
    return button;
  }));
  if (table.over && !table.game_over && !replayed) {
    const next = make("button", { type: "button", id: "next", textContent: "Next round" });
    next.addEventListener("click", nextRound);
    $("choices").append(next);
  }
  $("replay").hidden = !replayed;
  $("pace").hidden = replayed;
  if (replayed) {
    $("step").max = table.steps;
    $("step").value = table.step;
    $("place").textContent = `${table.step} of ${table.steps}`;
    $("first").disabled = $("back-one").disabled = table.step === 0;
    $("last").disabled = $("on-one").disabled = table.step === table.steps;
  }
  $("hint").disabled = table.over || !(watched || table.mine);
  $("pause").textContent = paused ? "Go on" : "Pause";
  $("one").disabled = !paused || !table.bot;
  $("advice").hidden = $("advice-note").hidden = true;
  keepTime();
}

function showSeat(seat, number) {
  const notes = [
    seat.uno && "UNO!", seat.dealer && "dealer", seat.points && `+${seat.points} points`, seat.winner && "has won",
    number === seen.seat && "your seat",
  ].filter(Boolean);
  const open = seat.hand !== null && number !== seen.seat;
  const fan = make("div", { className: open ? "fan open" : "fan" });
  fan.append(...(open ? seat.hand.map(picture) : Array.from({ length: seat.cards }, unseen)));
  return make(
    "li",
    { className: [seat.turn && "turn", seat.winner && "winner"].filter(Boolean).join(" ") },
    make(
      "div",
      { className: "name" },
      make("span", { textContent: seat.name, title: seat.name }),
      make("span", { className: "score", textContent: seat.score, title: "points in all" }),
    ),
    fan,
    make("div", { className: "notes", textContent: [`${seat.cards} cards`, ...notes].join(" · ") }),
  );
}

function showCard({ card, plays, why }) {
  const button = make("button", { type: "button" }, picture(card));
  button.dataset.card = card;
  if (plays.length) {
    button.className = "plays";
    button.addEventListener("click", () => (plays.length === 1 ? act(plays[0]) : chooseColour(plays)));
  } else {
    button.title = why ?? "it is not your turn";
    button.addEventListener("click", () => say(`${nameOf(card)}: ${button.title}`));
  }
  return button;
}

/** A wild may be played as any colour: its actions, in the order of the colours. */
function chooseColour(plays) {
  const letters = Object.keys(COLOURS);
  $("colour-buttons").replaceChildren(...plays.map((action, place) => {
    const [name, mark] = COLOURS[letters[place]];
    const button = make("button", { type: "button", className: `c-${letters[place]}`, textContent: `${mark} ${name}` });
    button.addEventListener("click", () => {
      $("colours").close();
      act(action);
    });
    return button;
  }));
  $("colours").showModal();
}

// ------------------------------------------------------------------ playing

async function act(action) {
  await change("act", { action, decisions: seen.decisions });
}

async function nextRound() {
  await change("next", {});
}

async function change(what, body) {
  clearTimeout(timer);
  const at = token;
  await attempt(async () => {
    const table = await ask(`tables/${at}/${what}`, body);
    if (at === token) show(table);
  });
}

/** Let bots decide when it is time for it; of a record, ask for advice on what is looked at. */
function keepTime() {
  clearTimeout(timer);
  if (kind === "records" && !seen.over) timer = setTimeout(advise, PATIENCE);
  if (kind !== "tables" || paused) return;
  const speed = SPEEDS[$("speed").value];
  const perRequest = Math.min(Math.ceil(speed / MOST_REQUESTS), menu.most_steps);
  if (seen.bot) {
    timer = setTimeout(() => change("step", { count: perRequest }), (1000 * perRequest) / speed);
  } else if (seen.over && !seen.game_over && seen.seat === null) {
    timer = setTimeout(nextRound, 3000 / speed);
  }
}

function pause() {
  paused = !paused;
  show(seen);
}

function showSpeed() {
  $("per-second").textContent = SPEEDS[$("speed").value];
  if (seen) keepTime();
}

async function leave() {
  if (kind === "records") return close();
  clearTimeout(timer);
  return attempt(async () => {
    const { record } = await ask(`tables/${token}/leave`, {});
    close();
    $("start").hidden = true;
    $("ended").hidden = false;
    URL.revokeObjectURL($("save").href);
    $("save").href = URL.createObjectURL(new Blob([record], { type: "application/jsonl" }));
    $("see").onclick = () => openRecord(record);
  });
}

// ------------------------------------------------------------------ advice

async function advise() {
  const question = (advised += 1);
  const place = kind === "records" ? `records/${token}/${seen.step}` : `tables/${token}`;
  await attempt(async () => {
    const { advice } = await ask(`${place}/advice`);
    if (question !== advised) return;
    $("advice").hidden = $("advice-note").hidden = false;
    $("advice").tBodies[0].replaceChildren(...advice.map((each) => {
      const wins = `${Math.round(100 * each.value)} ± ${Math.round(196 * each.error)}`;
      const likely = make("td", {}, make("meter", { value: each.probability }), ` ${Math.round(100 * each.probability)}`);
      const row = make("tr", {}, make("td", { textContent: each.label }), likely, make("td", { textContent: wins }));
      if (each.action === seen.chosen) row.className = "chosen";
      return row;
    }));
  });
}

// ------------------------------------------------------------------ records

let turning = 0;

async function go(step) {
  if (step < 0 || step > seen.steps) return;
  const wish = (turning += 1);
  const at = token;
  await attempt(async () => {
    const table = await ask(`records/${at}/${step}`);
    if (wish === turning && at === token) show(table);
  });
}

// ------------------------------------------------------------------ keys

function press(event) {
  const busy = event.ctrlKey || event.metaKey || event.altKey || $("colours").open;
  if (busy || seen === null || event.target.matches("input, select, textarea")) return;
  const button = (text) => [...$("choices").children].find((each) => each.textContent === text);
  const keys = {
    d: () => button("Draw"), k: () => button("Keep it"), u: () => button("Say UNO"), n: () => $("next"),
    h: () => $("hint"),
    ArrowLeft: () => $("back-one"), ArrowRight: () => $("on-one"), Home: () => $("first"), End: () => $("last"),
    " ": () => !event.target.matches("button, a, summary") && $("pause"),
  };
  let found = keys[event.key]?.();
  if (/^[1-9]$/.test(event.key)) found = $("hand").querySelectorAll(".plays")[event.key - 1];
  if (!found || found.closest("[hidden]")) return;
  event.preventDefault();
  found.click();
}

// ------------------------------------------------------------------ beginning

async function begin() {
  menu = await ask("menu");
  $("preset").append(...menu.presets.map((name) => make("option", { value: name, textContent: name.replaceAll("_", " ") })));
  $("house-rules").append(...menu.house_rules.map((rule) => make(
    "label", {}, make("input", { type: "checkbox", id: `house-${rule}` }), rule.replaceAll("_", " "),
  )));
  $("new-table").addEventListener("submit", sit);
  $("fewer").addEventListener("click", () => { wanted.pop(); showSeats(); });
  $("more").addEventListener("click", () => { wanted.push("greedy"); showSeats(); });
  $("new-record").addEventListener("submit", (event) => event.preventDefault());
  $("file").addEventListener("change", async () => {
    const [file] = $("file").files;
    if (file) await openRecord(await file.text());
    $("file").value = "";
  });
  $("leave").addEventListener("click", leave);
  $("again").addEventListener("click", showStart);
  $("hint").addEventListener("click", advise);
  $("pause").addEventListener("click", pause);
  $("one").addEventListener("click", () => change("step", { count: 1 }));
  $("speed").addEventListener("input", showSpeed);
  $("first").addEventListener("click", () => go(0));
  $("back-one").addEventListener("click", () => go(seen.step - 1));
  $("on-one").addEventListener("click", () => go(seen.step + 1));
  $("last").addEventListener("click", () => go(seen.steps));
  $("step").addEventListener("input", () => go(Number($("step").value)));
  document.addEventListener("keydown", press);
  showSpeed();
  showStart();
  await resume();
  document.body.dataset.ready = "yes";
}

await attempt(begin);
