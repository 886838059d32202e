"""What runs leave: models, logs."""

SENTENCES: dict[str, tuple[str, str]] = {
    # own code
    "not_code": ("`{key}={value}` is neither the name of uploaded code (`paddock data put my-code FOLDER`) nor an address like `https://github.com/team/repo@main`.",
                 "`{key}={value}` 既不是已上传代码的名称（`paddock data put my-code 文件夹`），也不是 `https://github.com/team/repo@main` 这样的地址。"),
    "host_not_allowed": ("`{key}`: code may not be fetched from `{value}`. Allowed: {known}. Whoever runs Paddock sets `CodeHosts`; or upload it with `paddock data put`.",
                         "`{key}`：不允许从 `{value}` 获取代码。允许：{known}。管理员可设置 `CodeHosts`；也可用 `paddock data put` 上传。"),
    "code_not_found": ("The code `{value}` could not be fetched: {detail}", "无法获取代码 `{value}`：{detail}"),
    "requirements_failed": ("`requirements={value}` could not be installed: {detail}", "无法安装 `requirements={value}`：{detail}"),
    "no_such_secret": ("There is no secret `{value}`: it is looked for in Secrets Manager as `{place}` ({detail}).",
                       "没有密钥 `{value}`：在 Secrets Manager 中以 `{place}` 查找（{detail}）。"),
    "model_title": ("*Model of `{job}`* ({recipe}, step {step}), {size}", "*`{job}` 的模型*（{recipe}，第 {step} 步），{size}"),
    "model_files": ("Holds {files}.", "包含 {files}。"),
    "model_difference": ("Exported and trained model differ by at most {difference}.", "导出模型与训练模型的最大差异为 {difference}。"),
    "model_place": ("It is at `{place}`.", "位于 `{place}`。"),
    "model_link": ("Download (the link lasts an hour)", "下载（链接一小时内有效）"),
    "model_get": ("In a terminal: `paddock model get {job} FOLDER`, and `paddock predict {job} …` tries it.",
                  "在终端：`paddock model get {job} FOLDER` 下载，`paddock predict {job} …` 试用。"),
    "model_none": ("`{job}` left no model: only a run that succeeded does. Its checkpoint may be there: `/train … resume={job}`.",
                   "`{job}` 没有留下模型：只有成功的任务才有。可能有检查点：`/train … resume={job}`。"),
    "model_not_yet": ("`{job}` still runs: its model is there once it has succeeded.", "`{job}` 仍在运行：成功后才有模型。"),
    "curves_title": ("Loss and {metric} of {job}", "{job} 的损失与{metric}"),
    "curves_alt": ("Curves of {job} over {steps} steps: the loss ends at {loss}; {metrics}.",
                   "{job} 在 {steps} 步中的曲线：损失最终为 {loss}；{metrics}。"),
    "code_version": ("code", "代码"),
    "waiting": ("waiting for data", "等待数据"),
    "data_version": ("data", "数据"),
}  # fmt: skip
