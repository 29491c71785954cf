#!/usr/bin/env python3
"""converters_live.py: estimators of scikit-learn and, where TensorFlow and tf2onnx are installed, Keras models, by
anyshape.from_sklearn and from_keras: their batch is named, what they give is compared by the call itself, and a model
that gives something else is refused.

Environment: ANYSHAPE (the program; the package is beside it in the build tree), ANYSHAPE_SEED.
"""

import os
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(os.environ["ANYSHAPE"]).resolve().parent.parent / "python"))
warnings.filterwarnings("ignore")

import anyshape  # noqa: E402
from sklearn import (cluster, decomposition, ensemble, feature_extraction, linear_model, mixture, naive_bayes,  # noqa: E402
                     neighbors, neural_network, pipeline, preprocessing, svm, tree)  # fmt: skip

ROWS, FEATURES = 90, 5


def estimators():
    scaled = pipeline.make_pipeline(preprocessing.StandardScaler(), svm.SVC(probability=True))
    return [linear_model.LogisticRegression(), linear_model.SGDClassifier(), ensemble.RandomForestClassifier(9),
            ensemble.GradientBoostingClassifier(n_estimators=9), tree.DecisionTreeClassifier(), scaled,
            neighbors.KNeighborsClassifier(), naive_bayes.GaussianNB(), svm.LinearSVC(),
            neural_network.MLPClassifier((9,), max_iter=40)]  # fmt: skip


def regressors():
    return [linear_model.LinearRegression(), linear_model.Ridge(), ensemble.RandomForestRegressor(9), svm.SVR(),
            tree.DecisionTreeRegressor(), neighbors.KNeighborsRegressor()]  # fmt: skip


def others():
    return [cluster.KMeans(3), mixture.GaussianMixture(2), decomposition.PCA(2), preprocessing.MinMaxScaler(),
            preprocessing.PolynomialFeatures(2), ensemble.IsolationForest(n_estimators=9)]  # fmt: skip


def converted(model, x):
    made = anyshape.from_sklearn(model, x)
    for name, kind in made.inputs.items():
        assert "[batch" in kind, (name, kind)
    assert any("equal to" in change for change in made.changes), made.changes
    return made


def of_numbers(rng):
    x = rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
    classes = (x[:, 0] > 0) * 1 + (x[:, 1] > 0.5)
    words = np.array(["red", "green", "blue"], dtype=object)[classes]
    models = [model.fit(x, y) for y in (classes, words) for model in estimators()]
    models += [model.fit(x, x[:, 0] * 2 + x[:, 1]) for model in regressors()]
    models += [model.fit(x) for model in others()]
    for model in models:
        try:
            converted(model, x)
        except Exception as failure:
            raise AssertionError(f"{model}: {failure}") from failure
    return len(models)


def of_texts():
    texts = np.array(["a b c", "b c d", "c d e f"] * 9, dtype=object)
    words = feature_extraction.text.CountVectorizer(token_pattern="[a-z]+")
    converted(pipeline.make_pipeline(words, linear_model.LogisticRegression()).fit(texts, [0, 1, 0] * 9), texts)


def refusals(rng):
    x = rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
    model = linear_model.LinearRegression().fit(x, x[:, 0])
    model.predict = lambda rows: linear_model.LinearRegression.predict(model, rows) + 1
    for code, call in (("convert.differs", lambda: anyshape.from_sklearn(model, x)),
                       ("argument.type", lambda: anyshape.from_sklearn(3, x)),
                       ("convert.refused", lambda: anyshape.from_sklearn(linear_model.Ridge(), x))):  # fmt: skip
        try:
            call()
        except anyshape.Error as error:
            assert error.code == code, error
        else:
            raise AssertionError(f"{code} was not raised")
    anyshape.from_sklearn(model, x, compare=False)


def of_keras(rng):
    missing = [name for name in ("tensorflow", "tf2onnx") if find_spec(name) is None]
    if missing:
        return f"Keras was not tried: {', '.join(missing)} not installed"
    import keras

    layers = keras.layers
    sequence = keras.Sequential([keras.Input((None, 3)), layers.LSTM(4), layers.Dense(2, activation="softmax")])
    image = keras.Sequential([keras.Input((None, None, 3)), layers.Conv2D(4, 3, padding="same"),
                              layers.GlobalAveragePooling2D(), layers.Dense(1)])  # fmt: skip
    one, two = keras.Input((4,), name="one"), keras.Input((4,), name="two")
    both = keras.Model([one, two], layers.Dense(3)(layers.add([one, two])))
    given = [(sequence, (6, 7, 3)), (image, (3, 9, 8, 3)), (both, [(5, 4), (5, 4)])]
    for model, shape in given:
        shapes = shape if isinstance(shape, list) else [shape]
        arrays = [rng.normal(size=one).astype(np.float32) for one in shapes]
        made = anyshape.from_keras(model, arrays if len(arrays) > 1 else arrays[0])
        assert all(kind.startswith("f32[batch") for kind in made.inputs.values()), made.inputs
        assert all(kind.startswith("f32[batch") for kind in made.outputs.values()), made.outputs
    return f"{len(given)} of Keras"


def main():
    seed = int(os.environ.get("ANYSHAPE_SEED", "0"))
    rng = np.random.default_rng(seed)
    count = of_numbers(rng)
    of_texts()
    refusals(rng)
    print(f"converters: {count + 1} estimators, {of_keras(rng)}, seed {seed}")


if __name__ == "__main__":
    main()
