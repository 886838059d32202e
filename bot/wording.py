"""Every sentence that people read, in English and Chinese. `say` fills in the facts, escaped for Slack."""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "zh"]


def escape(text: str) -> str:
    """Slack's control characters made harmless: a log line may hold `<!channel>`.
    (docs.slack.dev, "Formatting message text": escape &, < and >.)"""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def say(language: Language, code: str, **facts: str) -> str:
    """The sentence `code` with its facts. Raises KeyError for a code without a sentence."""
    return SENTENCES[code][0 if language == "en" else 1].format_map(_Facts({k: escape(v) for k, v in facts.items()}))


def short(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, an ellipsis where it was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


class _Facts(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return ""


def language_of(text: str, default: Language) -> Language:
    """Chinese if the command holds Chinese characters, else the deployment's language."""
    return "zh" if any("\u4e00" <= char <= "\u9fff" for char in text) else default


SENTENCES: dict[str, tuple[str, str]] = {
    # what is wrong with a command
    "wrong_train": ("That was not started: nothing is queued, nothing is spent.", "未启动：没有排队，也没有花费。"),
    "wrong_jobs": ("Nothing was done.", "没有执行任何操作。"),
    "wrong_budget": ("The budget is as it was.", "预算没有变化。"),
    "more_problems": ("• … and {count} more.", "• ……另有 {count} 处。"),
    "example": ("This works: `{example}`", "可用示例：`{example}`"),
    "unknown_recipe": ("There is no recipe `{value}`. {hint}Recipes: {known}.",
                       "没有名为 `{value}` 的配方。{hint}可用配方：{known}。"),
    "no_recipe": ("The recipe comes first, before `{value}`: for example `{example}`. Recipes: {known}.",
                  "请先写配方名，再写 `{value}`，例如 `{example}`。可用配方：{known}。"),
    "unknown_key": ("`{key}` is not a parameter. {hint}Parameters: {known}.", "没有参数 `{key}`。{hint}可用参数：{known}。"),
    "did_you_mean": ("Did you mean `{nearest}`? ", "您是不是想用 `{nearest}`？"),
    "duplicate_key": ("`{key}` is given twice: keep one.", "`{key}` 写了两次，请只保留一个。"),
    "not_a_pair": ("`{value}` is not `key=value`. {hint}", "`{value}` 不是 `键=值` 的形式。{hint}"),
    "not_a_number": ("`{key}={value}`: `{value}` is not a number, for example `{key}={example}`.",
                     "`{key}={value}`：`{value}` 不是数字，例如 `{key}={example}`。"),
    "not_whole": ("`{key}={value}` must be a whole number, for example `{key}={example}`.",
                  "`{key}={value}` 必须是整数，例如 `{key}={example}`。"),
    "too_low": ("`{key}={value}` is too low: the least is `{key}={bound}`.",
                "`{key}={value}` 太小：最小为 `{key}={bound}`。"),
    "too_high": ("`{key}={value}` is too high: the most is `{key}={bound}`.",
                 "`{key}={value}` 太大：最大为 `{key}={bound}`。"),
    "not_a_choice": ("`{key}={value}`: choose one of {choices}.", "`{key}={value}`：可选值为 {choices}。"),
    "not_money": ("`{key}={value}` is not an amount of money ({currency}), for example `{example}`.",
                  "`{key}={value}` 不是金额（{currency}），例如 `{example}`。"),
    "other_currency": ("`{key}={value}`: budgets are in {currency} here, for example `{example}`; nothing is converted.",
                       "`{key}={value}`：此处预算以 {currency} 计，例如 `{example}`，不作换算。"),
    "not_a_time": ("`{key}={value}` is not a time span; use s, m, h or d, for example `{example}`.",
                   "`{key}={value}` 不是时长；单位可用 s、m、h、d，例如 `{example}`。"),
    "no_unit": ("`{key}={value}`: seconds or minutes? Write `{key}={value}s` or `{key}={value}m` (also h, d).",
                "`{key}={value}`：是秒还是分钟？请写 `{key}={value}s` 或 `{key}={value}m`（也可用 h、d）。"),
    "too_long": ("`{key}` has {length} characters: the most is {bound}, for example `{key}={example}`.",
                 "`{key}` 有 {length} 个字符，最多 {bound} 个，例如 `{key}={example}`。"),
    "not_a_name": ("`{key}={value}` is not a name: use letters, digits, `.`, `_`, `-` and `/`, for example "
                   "`{key}={example}`.",
                   "`{key}={value}` 不是有效的名称：只能用字母、数字、`.`、`_`、`-` 和 `/`，例如 `{key}={example}`。"),
    "empty_value": ("`{key}` has no value, for example `{example}`.", "`{key}` 没有值，例如 `{example}`。"),
    "unclear_digit": ("`{value}` is not a plain digit; type 0 to 9.", "`{value}` 不是普通数字，请输入 0 到 9。"),
    "unclosed_quote": ("A quote is opened before `{value}` but not closed.", "`{value}` 之前的引号没有闭合。"),
    "no_job": ("There is no run `{job}`. `/jobs` lists them.", "没有任务 `{job}`。用 `/jobs` 查看列表。"),
    "unknown_word": ("`{value}` is not known here. {hint}Known: {known}.", "不认识 `{value}`。{hint}可用：{known}。"),
    "not_yours": ("Only <@{owner}>, who started `{job}`, or an administrator can do that.",
                  "只有启动 `{job}` 的 <@{owner}> 或管理员可以这样做。"),
    "not_admin": ("Only an administrator can change the team's budget.", "只有管理员可以修改团队预算。"),
    "not_resumable": ("`{job}` has no checkpoint for `{recipe}` to go on from.", "`{job}` 没有可供 `{recipe}` 续训的检查点。"),
    "still_live": ("`{job}` still runs: go on from it once it is over. `/jobs stop {job}` ends it; its checkpoint is kept.",
                   "`{job}` 仍在运行：结束后才能从它续训。`/jobs stop {job}` 可停止，检查点会保留。"),
    "kept_on_resume": ("`{key}={value}`: `{job}` was trained with `{key}={was}`, and its checkpoint goes on only with that. "
                       "Leave `{key}` out, or start anew without `resume`.",
                       "`{key}={value}`：`{job}` 是用 `{key}={was}` 训练的，其检查点只能按此续训。请去掉 `{key}`，或不用 `resume` 重新训练。"),
    "nothing_left": ("`{job}` has already trained {done} epochs (step {step}): `epochs={epochs}` leaves nothing to do. "
                     "`epochs={more}` or more goes on.",
                     "`{job}` 已训练 {done} 轮（第 {step} 步）：`epochs={epochs}` 没有剩余训练。`epochs={more}` 或更多可以继续。"),
    # answers
    "which_run": ("Which run? Yours that are live:", "哪个任务？您正在运行的任务："),
    "none_of_yours": ("You have no live run. `/jobs` lists everybody's.", "您没有正在运行的任务。用 `/jobs` 查看全部任务。"),
    "accepted": ("Starting `{job}`: its card appears in this channel. Budget {budget}, time limit {time}.",
                 "正在启动 `{job}`，卡片会出现在本频道。预算 {budget}，时限 {time}。"),
    "stopping_now": ("Stopping `{job}`. The instance is being ended; the card will say when it is gone.",
                     "正在停止 `{job}`，实例正在终止；终止后卡片会说明。"),
    "already_over": ("`{job}` is already over.", "`{job}` 已经结束。"),
    "extending": ("Asking for more for `{job}`; the answer follows in a moment.", "正在为 `{job}` 追加额度，稍后答复。"),
    "cap_set": ("The team's monthly budget is being set to {cap}.", "团队月预算正在设为 {cap}。"),
    "no_jobs": ("No runs yet. Start one: `{example}`", "还没有任务。启动一个：`{example}`"),
    "jobs_title": ("*Runs*", "*任务*"),
    "help_train": ("*`/train <recipe> key=value …`* starts a run. Recipes: {recipes}.\nLimits: `budget=$5` `time=2h`; "
                   "go on from a run's checkpoint: `resume=<id>`.\nExample: `{example}`",
                   "*`/train <配方> 键=值 …`* 启动训练。配方：{recipes}。\n限额：`预算=$5` `时长=2h`；从检查点续训：`续训=<id>`。"
                   "\n示例：`{example}`"),
    "help_jobs": ("`/jobs` lists runs · `/jobs stop <id>` ends one · `/jobs extend <id> budget=+$2 time=+1h`",
                  "`/jobs` 列出任务 · `/jobs stop <id>` 停止 · `/jobs extend <id> budget=+$2 time=+1h` 追加"),
    "help_budget": ("`/budget` shows the month · `/budget set $500` (administrators) sets it",
                    "`/budget` 查看本月 · `/budget set $500`（管理员）设置"),
    "budget_month": ("*GPU budget {month} (UTC)* — {cap}", "*GPU 预算 {month}（UTC）* — {cap}"),
    "budget_sums": ("Spent {spent} · reserved {reserved} · free {free}", "已用 {spent} · 预留 {reserved} · 可用 {free}"),
    "budget_forecast": ("Forecast for the month at this pace: {forecast}", "按目前速度，本月预计：{forecast}"),
    "budget_people": ("By person: {people}", "按成员：{people}"),
    "unreachable": ("Paddock's mailbox cannot be reached just now: nothing was started. Please try again in a minute.",
                    "Paddock 暂时无法受理：没有启动任何任务，请稍后再试。"),
    "accepted_outage": ("Starting `{job}`: Slack takes no messages from Paddock just now, its card follows as soon as it "
                        "does. `/jobs` shows the run. Budget {budget}, time limit {time}.",
                        "正在启动 `{job}`：Slack 暂时不接收 Paddock 的消息，恢复后卡片会出现，可用 `/jobs` 查看。预算 {budget}，时限 {time}。"),
    "no_token": ("Paddock cannot post the card of `{job}`: its access to this workspace ended ({error}). The run goes on, "
                 "`/jobs` shows it. Whoever runs Paddock must install the app again; then the card appears.",
                 "Paddock 无法发送 `{job}` 的卡片：它在此工作区的授权已失效（{error}）。训练照常进行，可用 `/jobs` 查看。"
                 "请管理员重新安装应用，之后卡片会出现。"),
    "accepted_closed": ("Starting `{job}`. Budget {budget}, time limit {time}.", "正在启动 `{job}`。预算 {budget}，时限 {time}。"),
    # where a card is that its channel does not take
    "closed_not_in_channel": ("Paddock is not in <#{channel}>, so the card of `{job}` is in your direct messages with "
                              "Paddock. The run goes on. Type `/invite @paddock` in <#{channel}> and the card comes there.",
                              "Paddock 不在 <#{channel}> 中，因此 `{job}` 的卡片在您与 Paddock 的私信里，训练照常进行。"
                              "在 <#{channel}> 中输入 `/invite @paddock`，卡片就会出现在那里。"),
    "closed_channel_not_found": ("Paddock cannot see the conversation where `{job}` was started (a direct message or a "
                                 "private channel), so its card is in your direct messages with Paddock. The run goes on. "
                                 "In a private channel, `/invite @paddock` brings the card there.",
                                 "Paddock 看不到启动 `{job}` 的会话（私信或私有频道），因此卡片在您与 Paddock 的私信里，训练照常进行。"
                                 "如果是私有频道，输入 `/invite @paddock` 即可让卡片出现在那里。"),
    "closed_is_archived": ("<#{channel}> is archived, so the card of `{job}` is in your direct messages with Paddock. The "
                           "run goes on. Once the channel is unarchived, and after `/invite @paddock`, the card comes back.",
                           "<#{channel}> 已归档，因此 `{job}` 的卡片在您与 Paddock 的私信里，训练照常进行。"
                           "取消归档并输入 `/invite @paddock` 后，卡片会回到那里。"),
    "closed_restricted_action": ("Apps may not post in <#{channel}>, so the card of `{job}` is in your direct messages with "
                                 "Paddock. The run goes on. Once an administrator lets Paddock post there (and after "
                                 "`/invite @paddock`), the card comes there.",
                                 "<#{channel}> 不允许应用发消息，因此 `{job}` 的卡片在您与 Paddock 的私信里，训练照常进行。"
                                 "管理员允许 Paddock 发消息（并输入 `/invite @paddock`）后，卡片会出现在那里。"),
    "came_home": ("The card of `{job}` is in <#{channel}> now.", "`{job}` 的卡片现在在 <#{channel}> 中。"),
    # why a job is where it is
    "looking": ("Looking for the cheapest spot GPU.", "正在寻找最便宜的竞价 GPU。"),
    "no_pools": ("No price is known for a suitable GPU; looking again every minute.",
                 "查不到合适 GPU 的价格，每分钟重试。"),
    "waiting_for_capacity": ("No spot capacity in any of {pools} pools; trying again every minute.",
                             "{pools} 个竞价池都没有容量，每分钟重试。"),
    "no_capacity_here": ("No spot capacity for {type} in {zone}; trying the next pool.",
                         "{zone} 没有 {type} 的竞价容量，尝试下一个。"),
    "no_quota_here": ("The account's quota does not allow {type} now ({detail}); trying the next pool.",
                      "账号配额不允许 {type}（{detail}），尝试下一个。"),
    "ec2_busy": ("EC2 takes no orders from this account just now; asking again within a minute.",
                 "EC2 暂时不受理本账号的请求，一分钟内重试。"),
    "launching": ("Starting {type} in {zone}.", "正在 {zone} 启动 {type}。"),
    "booting": ("The instance starts; the trainer reports next.", "实例正在启动，等待训练程序报告。"),
    "training": ("Training.", "训练中。"),
    "resumed": ("Training, resumed from step {step}.", "训练中，从第 {step} 步恢复。"),
    "interruption_notice": ("EC2 takes this spot instance back: saving a checkpoint, then a new instance goes on.",
                            "EC2 即将收回竞价实例：正在保存检查点，随后在新实例上继续。"),
    "interrupted": ("The instance ended; a new one goes on from the last checkpoint.",
                    "实例已终止，将在新实例上从最近的检查点继续。"),
    "interrupted_notice": ("EC2 took the spot instance back; a new one goes on from the last checkpoint.",
                           "EC2 收回了竞价实例，将在新实例上从最近的检查点继续。"),
    "yielded": ("A checkpoint is saved; the instance ends.", "检查点已保存，实例即将终止。"),
    "silent": ("The trainer was silent for {seconds} s: ending the instance, a new one goes on.",
               "训练程序 {seconds} 秒没有报告：终止实例，换新实例继续。"),
    "never_booted": ("The trainer did not report within {seconds} s: ending the instance, trying a new one.",
                     "训练程序 {seconds} 秒内没有报告：终止实例，换新实例重试。"),
    "trainer_failed": ("The trainer failed: {reason}. {detail}", "训练程序出错：{reason}。{detail}"),
    "succeeded": ("Training is done.", "训练完成。"),
    "stopped_by": ("Stopped by <@{user}>.", "由 <@{user}> 停止。"),
    "out_of_time": ("The time limit of {time} is reached. The checkpoint is kept.", "已达到时限 {time}，检查点已保留。"),
    "out_of_budget": ("The budget of {budget} is reached. The checkpoint is kept.", "已达到预算 {budget}，检查点已保留。"),
    "budget_too_small": ("The budget of {budget} does not pay one launch; {needed} would.",
                         "预算 {budget} 不够启动一次，至少需要 {needed}。"),
    "no_capacity": ("No spot capacity for {seconds} s. Nothing runs; try again later.",
                    "{seconds} 秒内没有竞价容量。没有运行任何实例，请稍后再试。"),
    "no_progress": ("{times} instances in a row ended without a new checkpoint. {reason} {detail}",
                    "连续 {times} 个实例都没有新的检查点。{reason} {detail}"),
    "two_currencies": ("Prices here are not in {currency}, the currency of this run's budget: nothing was launched.",
                       "此处的价格不是以本任务预算的货币 {currency} 计：没有启动。"),
    "launch_invalid": ("No instance could be started: {detail}", "无法启动实例：{detail}"),
    "over_month": ("Not started: {asked} is more than the {free} left of this month's {cap}. `budget={free}` would fit.",
                   "未启动：{asked} 超过了本月 {cap} 中剩余的 {free}。`budget={free}` 可以。"),
    "extend_over_month": ("Not extended: {asked} is more than the {free} left of this month's {cap}.",
                          "未追加：{asked} 超过了本月 {cap} 中剩余的 {free}。"),
    "extend_too_late": ("`{job}` is over, so it was not extended.", "`{job}` 已结束，未追加。"),
    "extended": ("`{job}` may now spend {budget} and run for {time}.", "`{job}` 现在的预算为 {budget}，时限为 {time}。"),
    "no_heartbeat": ("No heartbeat from the trainer for {time}.", "训练程序已 {time} 没有心跳。"),
    # card
    "state_queued": ("queued", "排队中"), "state_launching": ("launching", "启动中"), "state_running": ("running", "运行中"),
    "state_interrupted": ("interrupted", "已中断"), "state_stopping": ("stopping", "停止中"),
    "state_succeeded": ("succeeded", "已成功"), "state_failed": ("failed", "失败"), "state_stopped": ("stopped", "已停止"),
    "state_out_of_time": ("out of time", "已超时"), "state_out_of_budget": ("out of budget", "预算用尽"),
    "state_no_capacity": ("no capacity", "无容量"), "state_refused": ("refused", "未受理"),
    "by": ("by <@{user}>", "由 <@{user}> 启动"),
    "epoch_step": ("epoch {epoch}/{epochs} · step {step}/{steps}", "第 {epoch}/{epochs} 轮 · 第 {step}/{steps} 步"),
    "loss": ("Loss", "损失"), "accuracy": ("Validation accuracy", "验证准确率"), "speed": ("Speed", "速度"),
    "speed_value": ("{rate} samples/s", "{rate} 样本/秒"), "instance": ("Instance", "实例"),
    "price_value": ("{type} · {zone} · {price}/h", "{type} · {zone} · {price}/小时"),
    "elapsed": ("Elapsed", "已用时"), "eta": ("Left", "剩余"), "limit_of": ("{value} of {limit}", "{value} / {limit}"),
    "spend": ("Spend", "花费"), "spend_value": ("{spent} of {budget}", "{spent} / {budget}"),
    "at_most": ("at most {spent}", "至多 {spent}"),
    "projected": ("projected {projected}", "预计 {projected}"),
    "on_demand": ("on demand it would be {amount}", "按需价为 {amount}"),
    "attempt": ("instance {number}", "第 {number} 个实例"),
    "context": ("`{job}` · attempt {attempt} · checkpoint at step {step}", "`{job}` · 第 {attempt} 次尝试 · 检查点：第 {step} 步"),
    "context_none": ("`{job}` · attempt {attempt} · no checkpoint yet", "`{job}` · 第 {attempt} 次尝试 · 尚无检查点"),
    "goes_on_from": ("Goes on from the checkpoint of `{job}`.", "从 `{job}` 的检查点继续。"),
    "went_on_from": ("Went on from `{job}` at step {step}.", "从 `{job}` 的第 {step} 步继续。"),
    "schedule_as_planned": ("The learning rate goes on as planned there.", "学习率按原计划继续。"),
    "schedule_longer": ("The learning rate falls to 0 at the new end, as if {epochs} epochs had been planned from the start.",
                        "学习率在新的终点降为 0，与一开始就计划 {epochs} 轮相同。"),
    "schedule_new_rate": ("The learning rate begins there at {lr} and falls to 0 at the end.",
                          "学习率从此处的 {lr} 开始，到终点降为 0。"),
    "go_on": ("Go on from its checkpoint: `{command}`", "从检查点继续：`{command}`"),
    "stop": ("Stop", "停止"), "details": ("Details", "详情"), "extend_button": ("Extend +{amount}", "追加 {amount}"),
    "stop_title": ("Stop this run?", "停止训练？"),
    "stop_text": ("The last checkpoint is kept and a new run can go on from it.", "最近的检查点会保留，可从那里继续。"),
    "stop_yes": ("Stop it", "停止"), "stop_no": ("Keep running", "继续运行"), "close": ("Close", "关闭"),
    # replies in the thread
    "alert_50": ("<@{user}> half of the budget of `{job}` is spent: {spent} of {budget}.",
                 "<@{user}> `{job}` 的预算已用一半：{spent} / {budget}。"),
    "alert_80": ("<@{user}> 80 % of the budget of `{job}` is spent: {spent} of {budget}. It ends itself before {budget}.",
                 "<@{user}> `{job}` 的预算已用 80%：{spent} / {budget}。它会在 {budget} 之前自行停止。"),
    "alert_100": ("<@{user}> the budget of `{job}` is reached: {spent} of {budget}. Its instance is ended.",
                  "<@{user}> `{job}` 的预算已到：{spent} / {budget}。实例已终止。"),
    "ended": ("<@{user}> `{job}` ({recipe}): {state}. ", "<@{user}> `{job}`（{recipe}）：{state}。"),
    "ended_spent": (" Spent {spent}.", " 花费 {spent}。"),
    "month_alert": ("{share} % of the team's GPU budget for {month} is spent: {spent} of {cap}.",
                    "团队 {month} 的 GPU 预算已用 {share}%：{spent} / {cap}。"),
}  # fmt: skip
